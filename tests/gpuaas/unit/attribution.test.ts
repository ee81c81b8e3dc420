// The causal rule against the 38 situations as data, and against anything that hops could ever say.
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { attribute, type Judged } from '../../../harness/preflight/attribution.ts';
import { resources } from '../../../harness/systems/gpuaas/causes.ts';
import gpuaas from '../../../harness/systems/gpuaas/index.ts';
import { signals } from '../../../harness/systems/gpuaas/signals.ts';
import { judgedOf, leadsTo } from '../support/proof-pairs.ts';
import { type Failing, needsData, type Picture, type Said, type Situation } from './data/replay.ts';
import { nodeAgent } from './data/replay-node-agent.ts';
import { terminal } from './data/replay-terminal.ts';

const { hops } = gpuaas.asked;

const all = [...nodeAgent, ...terminal];
const nameOf = ({ id, variant }: Situation) => (variant ? `${id} (${variant})` : id);

const catalogue = JSON.parse(
  readFileSync(new URL('../../../scenarios/gpuaas/catalogue.json', import.meta.url), 'utf8'),
) as {
  id: string;
  domain: string;
  expected_signal: string[] | null;
}[];

describe('the 38 situations', () => {
  it('are all there', () => {
    for (const [domain, list] of [
      ['node-agent', nodeAgent],
      ['terminal', terminal],
    ] as const) {
      const wanted = catalogue.filter((entry) => entry.domain === domain).map((entry) => entry.id);
      expect([...new Set(list.map((one) => one.id))].sort()).toEqual(wanted.sort());
    }
  });

  for (const one of all) {
    it(`${nameOf(one)} gives its pin late`, () => {
      const attribution = attribute(judgedOf(one.late));
      if (typeof one.pin === 'string') return expect(attribution.result).toBe(one.pin);
      expect(attribution).toMatchObject({ result: 'failed', failed: one.pin.hop, alsoFailing: [] });
      const said = one.late[one.pin.hop];
      expect(said).toMatchObject({ signal: one.pin.signal, cause: one.pin.cause });
    });
    it(`${nameOf(one)} says nothing else at +2 s`, () => {
      const attribution = attribute(judgedOf(one.early ?? one.late));
      if (attribution.result === 'failed')
        expect(attribution).toMatchObject({
          failed: typeof one.pin === 'string' ? null : one.pin.hop,
          alsoFailing: [],
        });
    });
    it(`${nameOf(one)} uses words that exist`, () => {
      for (const picture of [one.early ?? {}, one.late]) {
        for (const [id, said] of Object.entries(picture)) {
          const hop = hops.find((candidate) => candidate.id === id);
          expect(hop, id).toBeDefined();
          if (typeof said === 'string') continue;
          expect(hop?.signals).toContain(said.signal);
          expect(signals[said.signal]?.causes, `${said.signal}: ${said.cause}`).toContain(
            said.cause,
          );
          expect(Object.keys(resources)).toContain(said.blames);
        }
      }
    });
  }

  it('give the signals that the catalogue expects', () => {
    for (const one of all) {
      const expected = catalogue.find((entry) => entry.id === one.id)?.expected_signal;
      if (expected && typeof one.pin !== 'string' && one.id !== 'node-api-dns-broken')
        expect(expected, nameOf(one)).toContain(one.pin.signal);
    }
  });
});

describe('two faults at once', () => {
  const merge = (a: Picture, b: Picture, hopOfB: string): Picture => {
    const merged: Record<string, Said> = { ...a };
    for (const [id, said] of Object.entries(b)) {
      const other = merged[id];
      const unknownWins = needsData.has(id) && (said === 'unknown' || other === 'unknown');
      merged[id] =
        other === undefined
          ? said
          : unknownWins
            ? 'unknown'
            : typeof other === 'string' || id === hopOfB
              ? said
              : other;
    }
    return merged;
  };
  const order = (id: string) => hops.find((hop) => hop.id === id)?.order ?? 0;
  const failing = all.filter(
    (one) => typeof one.pin !== 'string' && one.pin.hop !== 'node_ops_access',
  );

  /**
   * The other is named besides unless the first explains it, blames the same, or an unknown hop
   * might explain it.
   */
  const stillOther = ([first, other]: string[], picture: Picture): string[] => {
    if (first === undefined || other === undefined) return [];
    const [one, two] = [picture[first] as Failing, picture[other] as Failing];
    const unknown = hops
      .find((hop) => hop.id === other)
      ?.explainedBy.some((by) => picture[typeof by === 'string' ? by : by.hop] === 'unknown');
    return one.blames === two.blames || unknown || leadsTo(other, first, picture) ? [] : [other];
  };

  it('name the first of the two, and the other besides unless it is explained', () => {
    for (const a of failing) {
      for (const b of failing) {
        if (typeof a.pin === 'string' || typeof b.pin === 'string' || a.pin.hop === b.pin.hop)
          continue;
        const merged = merge(a.late, b.late, b.pin.hop);
        const attribution = attribute(judgedOf(merged));
        // One fault may take the data of the other's hop away; that one shows after the repair of
        // the first.
        const pins = [a.pin.hop, b.pin.hop]
          .filter((id) => typeof merged[id] === 'object')
          .sort((x, y) => order(x) - order(y));
        expect(attribution.failed, `${nameOf(a)} + ${nameOf(b)}`).toBe(pins[0]);
        expect(attribution.alsoFailing, `${nameOf(a)} + ${nameOf(b)}`).toEqual(
          stillOther(pins, merged),
        );
      }
    }
  });
});

describe('whatever the hops say', () => {
  const status = fc.constantFrom(
    'pass',
    'fail',
    'warn',
    'unknown',
    'skipped',
    'not_run',
  ) as fc.Arbitrary<Judged['status']>;
  const blames = fc.option(fc.constantFrom(...Object.keys(resources)), { nil: undefined });
  const anything = fc.tuple(
    ...hops.map((hop) =>
      fc.record({ status, blames }).map(
        (said): Judged => ({
          id: hop.id,
          order: hop.order,
          explainedBy: hop.explainedBy,
          side: hop.side ?? false,
          status: said.status,
          blames: said.status === 'fail' ? said.blames : undefined,
        }),
      ),
    ),
  );
  const statusOf = (judged: readonly Judged[], id: string | null) =>
    judged.find((hop) => hop.id === id)?.status;

  it('there is a failed hop exactly when one fails, and it is never an explained one', () => {
    fc.assert(
      fc.property(anything, (judged) => {
        const { failed, result, explainedBy, alsoFailing } = attribute(judged);
        const someFail = judged.some((hop) => hop.status === 'fail');
        expect(failed !== null).toBe(someFail);
        expect(result === 'failed').toBe(someFail);
        if (failed !== null) expect(statusOf(judged, failed)).toBe('fail');
        for (const id of [failed, ...alsoFailing]) expect(explainedBy.has(id ?? '')).toBe(false);
        expect(alsoFailing).not.toContain(failed);
        for (const [id, by] of explainedBy)
          expect([statusOf(judged, id), statusOf(judged, by)]).toEqual(['fail', 'fail']);
      }),
    );
  });

  it('unknown never fails and never explains by itself', () => {
    fc.assert(
      fc.property(anything, (judged) => {
        const { failed, alsoFailing, explainedBy } = attribute(judged);
        const unknown = new Set(
          judged.filter((hop) => hop.status === 'unknown').map((hop) => hop.id),
        );
        for (const id of [failed, ...alsoFailing, ...explainedBy.values()])
          expect(unknown.has(id ?? '')).toBe(false);
      }),
    );
  });

  it('a root that an unknown hop could explain is never an also_failing', () => {
    fc.assert(
      fc.property(anything, (judged) => {
        const { alsoFailing, lowConfidence } = attribute(judged);
        for (const id of alsoFailing) expect(lowConfidence.has(id)).toBe(false);
      }),
    );
  });

  it('a hop is named with certainty only when all that could explain it answered', () => {
    fc.assert(
      fc.property(anything, (judged) => {
        const { failed, lowConfidence } = attribute(judged);
        const named = judged.find((hop) => hop.id === failed);
        const silent = named?.explainedBy.filter((by) =>
          ['unknown', 'skipped', 'not_run'].includes(
            statusOf(judged, typeof by === 'string' ? by : by.hop) ?? '',
          ),
        );
        expect(lowConfidence.get(failed ?? '')?.length ?? 0).toBe(silent?.length ?? 0);
      }),
    );
  });

  it('a probe that doubts its own finding is unsure, and stays a root of its own', () => {
    const pass = (id: string, order: number): Judged => {
      return { id, order, explainedBy: [], side: false, status: 'pass' };
    };
    const doubts = ['the record says otherwise'];
    const { failed, alsoFailing, lowConfidence } = attribute([
      { ...pass('a', 1), status: 'fail' },
      { ...pass('b', 2), status: 'fail', doubts },
    ]);
    expect([failed, alsoFailing, lowConfidence.get('b')]).toEqual(['a', ['b'], doubts]);
  });

  it('the side hop is the failed one only when it is the only root', () => {
    fc.assert(
      fc.property(anything, (judged) => {
        const { failed, explainedBy } = attribute(judged);
        const roots = judged.filter((hop) => hop.status === 'fail' && !explainedBy.has(hop.id));
        if (roots.length > 1)
          expect(hops.find((hop) => hop.id === failed)?.side ?? false).toBe(false);
      }),
    );
  });

  it('the order in which they speak makes no difference', () => {
    fc.assert(
      fc.property(anything, fc.integer(), (judged, seed) => {
        const turned = [...judged].sort(
          (a, b) => ((a.order * 31 + seed) % 17) - ((b.order * 31 + seed) % 17),
        );
        expect(attribute(turned)).toEqual(attribute(judged));
      }),
    );
  });
});
