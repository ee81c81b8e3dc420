// A deployment without a browser: what was to be seen on the console page is named as not seen, and
// never passed over.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Profile } from '../../../harness/records/profile.ts';
import { runOn } from '../../../harness/run.ts';
import { readFolder } from '../../../reports/records.ts';
import { rowOfFolder, table } from '../../../reports/summary.ts';
import { one, out, profileOfSuite } from '../support/proof.ts';

async function seenOn(profile: Profile) {
  const record = await runOn(await one('scenarios/gpuaas/terminal/redis-unavailable.yaml'), {
    profile,
    options: { out },
  });
  return {
    record,
    summary: readFileSync(join(record.dir, 'summary.txt'), 'utf8'),
    table: table([rowOfFolder(readFolder(record.dir))]),
  };
}

/** The stack of the suite without its browser. */
function blind(): Profile {
  const profile = profileOfSuite();
  const { browser: _, ...endpoints } = profile.endpoints;
  return { ...profile, endpoints };
}

test('is inconclusive', async () => {
  const profile = blind();
  const words = 'the console page was not looked at: the profile names no browser';
  const seen = await seenOn(profile);
  expect(seen.record).toMatchObject({
    verdict: 'inconclusive',
    reasons: [{ field: 'user.page', observed: words }],
  });
  expect(seen.record.reasons[0]?.at).toMatch(/redis-unavailable\.yaml:\d+:\d+$/);
  expect(seen.summary).toContain(words);
});

test('passes where the profile says so openly, and the reports say it too', async () => {
  const profile = blind();
  const seen = await seenOn({ ...profile, own: { pageNotSeen: 'the drill has no browser' } });
  const words = 'the console page was not looked at: the drill has no browser';
  expect(seen.record).toMatchObject({ verdict: 'pass', reasons: [] });
  expect(seen.record.observation?.user?.page_unseen).toEqual({
    why: 'the drill has no browser',
    declared: true,
  });
  for (const text of [
    seen.summary,
    seen.table,
    seen.record.stages.find((stage) => stage.stage === 'observe')?.detail,
  ])
    expect(text).toContain(words);
});
