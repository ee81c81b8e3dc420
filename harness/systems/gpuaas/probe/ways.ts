// Ways of the node that lead there, and lose packets or take long. Asked by hops that were late, so
// that lateness is charged to where the time went; a healthy preflight asks none of it.
import type { Evidence, Finding } from '../../../preflight/types.ts';
import { text } from '../flags.ts';
import { type Dial, readDial } from './dial.ts';
import { evidence, round } from './http.ts';
import { knocksIn, losesPackets } from './knocks.ts';
import type { Session } from './session.ts';
import type { Facts, Visit } from './visit.ts';

export const allWays = ['api', 'term'] as const;
type Name = (typeof allWays)[number];

/** What a way of the node was seen to do. */
export interface Way {
  readonly name: Name;
  readonly cause: 'packet_loss' | 'slow_link' | null;
  readonly detail: string;
}
/** A way that lets packets and time go. */
export type SlowWay = Way & { readonly cause: 'packet_loss' | 'slow_link' };

/** Said where time went somewhere, and the node did not tell where. */
export const noSecondLook = 'the node did not answer whether its ways lose packets or are slow';

/** Far longer than name, connection and handshake take on a busy machine. */
const slowMs = 1000;

function wayOf(name: Name, dial: Dial | null, again: Facts | undefined): Way {
  const knocks = [knocksIn(again), dial?.knocks ?? null];
  const lossy = knocks.find(losesPackets);
  if (lossy !== undefined) {
    const detail = `${lossy.made - lossy.answered} of ${lossy.made} new connections lost their first packet`;
    return { name, cause: 'packet_loss', detail };
  }
  const tookMs = Math.max(dial?.tookMs ?? 0, Number(again?.handshake_ms ?? 0));
  const counted = knocks
    .filter((one) => one !== null)
    .map(({ answered, made }) => `, ${answered} of ${made} new connections came about at once`);
  return {
    name,
    cause: tookMs < slowMs ? null : 'slow_link',
    detail: `the longest answer took ${round(tookMs)} ms${counted[0] ?? ''}`,
  };
}

/**
 * Both ways measured once more, side by side, with nothing else under way on the node; null when
 * the node did not answer that question.
 */
export async function secondLook(visit: Visit): Promise<Way[] | null> {
  const dials = {
    api: readDial(visit, 'api', 'link:node-api'),
    term: readDial(visit, 'term', 'link:term'),
  };
  const names = allWays.filter((name) => dials[name] !== null);
  const asked = names.flatMap((name) => {
    const address = visit.sections?.[name]?.addresses?.split(' ')[0] ?? '';
    const port = /:(\d+)$/.exec(dials[name]?.endpoint ?? '')?.[1];
    return address === '' || port === undefined
      ? []
      : [{ name, way: `${name} ${address} ${port}` }];
  });
  const again = asked.length === 0 ? {} : await visit.knock(asked.map(({ way }) => way));
  // Half an answer would make the other way look well.
  if (again === null || asked.some(({ name }) => knocksIn(again[name]) === null)) return null;
  return names.map((name) => wayOf(name, dials[name], again[name]));
}

const places = {
  api: {
    ...{ hop: 'node_runtime_api_reachability', signal: 'node_agent_api_unreachable' },
    blames: 'link:node-api',
  },
  term: {
    ...{ hop: 'node_terminal_reachability', signal: 'terminal_node_stream_timeout' },
    blames: 'link:term',
  },
} as const;

const isSlow = (way: Way): way is SlowWay => way.cause !== null;
/**
 * A listener that is reached slowly is reached; that the stream comes late is said where the stream
 * is awaited.
 */
const whereAwaited = (way: SlowWay): boolean => way.name === 'api' || way.cause === 'packet_loss';
export const everySlowWay = (): boolean => true;

function chargeOf(late: Finding, way: SlowWay, seen: Evidence): NonNullable<Finding['charges']> {
  const { hop, signal, blames } = places[way.name];
  const finding: Finding = {
    status: 'fail',
    ...{ signal, blames, cause: way.cause },
    summary: `${way.detail}; ${late.summary}`,
    evidence: [seen],
  };
  return { hop, finding };
}

/**
 * A late hop with what was seen of the ways that its time may have gone: charged is the first of
 * them that is slow; where none is, the hop stays to blame.
 */
export function chargedTo(
  late: Finding,
  ways: readonly Way[] | null,
  went: readonly Name[],
  isToBlame = whereAwaited,
): Finding {
  if (ways === null) return { ...late, doubts: [...(late.doubts ?? []), noSecondLook] };
  const found = went
    .flatMap((name) => ways.find((way) => way.name === name) ?? [])
    .filter(isSlow)
    .find(isToBlame);
  const seen = evidence('second_look', 'node', ways);
  return {
    ...late,
    evidence: [...(late.evidence ?? []), seen],
    ...(found !== undefined && { charges: chargeOf(late, found, seen) }),
  };
}

/** Without a way to the node nobody can look. */
export async function charged(
  session: Session,
  late: Finding,
  went: readonly Name[],
  isToBlame = whereAwaited,
): Promise<Finding> {
  if (text(session.request, 'node-host') === undefined) return late;
  return chargedTo(late, await session.secondLook(), went, isToBlame);
}
