// Ways of the node that lead there, and lose packets or take long. Asked by hops that were late, so
// that lateness is charged to where the time went; a healthy preflight asks none of it.
import type { Finding } from '../../../preflight/types.ts';
import { text } from '../flags.ts';
import { type Dial, readDial } from './dial.ts';
import { evidence, round } from './http.ts';
import type { Session } from './session.ts';
import type { Facts, Visit } from './visit.ts';

/** New connections that came about at the first try, of those that were made. */
export interface Knocks {
  readonly answered: number;
  readonly made: number;
}

export function knocksIn(facts: Facts | undefined): Knocks | null {
  const [answered, made] = (facts?.knocks ?? '').split('/').map(Number);
  return answered === undefined || made === undefined || !(made > 0) ? null : { answered, made };
}

/** None at all is no loss: the way is closed. */
export const losesPackets = (knocks: Knocks | null): knocks is Knocks =>
  knocks !== null && knocks.answered > 0 && knocks.answered < knocks.made;

export const allWays = ['api', 'term'] as const;
type Name = (typeof allWays)[number];

export interface SlowWay {
  readonly name: Name;
  readonly cause: 'packet_loss' | 'slow_link';
  readonly detail: string;
}

/** Far longer than name, connection and handshake take on a busy machine. */
const slowMs = 1000;

function slowWayOf(name: Name, dial: Dial | null, again: Facts | undefined): SlowWay | null {
  const lossy = [knocksIn(again), dial?.knocks ?? null].find(losesPackets);
  if (lossy !== undefined) {
    const detail = `${lossy.made - lossy.answered} of ${lossy.made} new connections lost their first packet`;
    return { name, cause: 'packet_loss', detail };
  }
  const tookMs = Math.max(dial?.tookMs ?? 0, Number(again?.handshake_ms ?? 0));
  if (tookMs < slowMs) return null;
  return { name, cause: 'slow_link', detail: `one answer took ${round(tookMs)} ms` };
}

/** Both ways measured once more, side by side, with nothing else under way on the node. */
export async function slowWays(visit: Visit): Promise<SlowWay[]> {
  const dials = {
    api: readDial(visit, 'api', 'link:node-api'),
    term: readDial(visit, 'term', 'link:term'),
  };
  const names = allWays.filter((name) => dials[name] !== null);
  const ways = names.flatMap((name) => {
    const address = visit.sections?.[name]?.addresses?.split(' ')[0] ?? '';
    const port = /:(\d+)$/.exec(dials[name]?.endpoint ?? '')?.[1];
    return address === '' || port === undefined ? [] : [`${name} ${address} ${port}`];
  });
  const again = ways.length === 0 ? {} : await visit.knock(ways);
  return names.flatMap((name) => slowWayOf(name, dials[name], again[name]) ?? []);
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

/**
 * A listener that is reached slowly is reached; that the stream comes late is said where the stream
 * is awaited.
 */
const whereAwaited = (way: SlowWay): boolean => way.name === 'api' || way.cause === 'packet_loss';
export const everySlowWay = (): boolean => true;

/**
 * What a late hop learned about the way that its time went: the first of the given ways that is
 * slow; null when none is, or nobody may look.
 */
async function chargeFor(
  session: Session,
  late: Finding,
  went: readonly Name[],
  isToBlame: (way: SlowWay) => boolean,
): Promise<NonNullable<Finding['charges']> | null> {
  if (text(session.request, 'node-host') === undefined) return null;
  const slow = await session.slowWays();
  const found = went.flatMap((name) => slow.find((way) => way.name === name) ?? []).find(isToBlame);
  if (found === undefined) return null;
  const { hop, signal, blames } = places[found.name];
  return {
    hop,
    finding: {
      status: 'fail',
      ...{ signal, blames, cause: found.cause },
      summary: `${found.detail}; ${late.summary}`,
      evidence: [evidence('slow_ways', 'node', slow)],
    },
  };
}

/** A late hop with what it learned; where nobody is slow it stays as it is. */
export async function charged(
  session: Session,
  late: Finding,
  went: readonly Name[],
  isToBlame = whereAwaited,
): Promise<Finding> {
  const charges = await chargeFor(session, late, went, isToBlame);
  return charges === null ? late : { ...late, charges };
}
