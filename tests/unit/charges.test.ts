// What a late hop learned about an earlier one: it counts where that one's own probe passed, explains
// who learned it, and never makes two failures of one.
import { describe, expect, it } from 'vitest';
import type { Finding } from '../../harness/preflight/types.ts';
import { broken, hop, pass, report, systemOf } from './preflight-made-up.ts';

const slow: Finding = { ...broken, summary: 'three of sixteen packets were lost' };
const late: Finding = { ...broken, blames: 'y', charges: { hop: 'a', finding: slow } };

const told = (first: Finding, second: Finding) =>
  report(systemOf([hop('a', 1, async () => first), hop('b', 2, async () => second)]));

describe('a late hop that charges an earlier one', () => {
  it('is explained by it, and the earlier one says what its own probe saw', async () => {
    const document = await told(pass, late);
    expect(document).toMatchObject({ hop: 'a', also_failing: [], confidence: 'high' });
    expect(document.hops[1]?.explained_by).toBe('a');
    expect(document.hops[0]).toMatchObject({
      status: 'fail',
      summary: slow.summary,
      ruled_out: [{ what: 'its own probe', because: 'ok' }],
    });
  });

  it('charges it also when it says nothing for itself', async () => {
    const document = await told(pass, { ...late, status: 'unknown' });
    expect([document.hop, document.hops[1]?.status]).toEqual(['a', 'unknown']);
  });

  it('leaves a hop alone that failed by itself', async () => {
    const own = { ...broken, summary: 'refused' };
    expect((await told(own, late)).hops[0]?.summary).toBe('refused');
  });

  it('cannot charge a hop that was not run, nor a later one', async () => {
    const before = hop('a', 3, async () => pass);
    const document = await report(systemOf([hop('b', 2, async () => late), before]));
    expect(document).toMatchObject({ hop: 'b', also_failing: [] });
    const alone = { ...late, charges: { hop: 'nowhere', finding: slow } };
    expect(await told(pass, alone)).toMatchObject({ hop: 'b', also_failing: [] });
  });
});
