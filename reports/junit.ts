import type { Row } from './summary.ts';

/** JUnit from run records: inconclusive and aborted runs are errors, wrong ones are failures. */
export function junit(rows: readonly Row[]): string {
  const failures = rows.filter((row) => row.verdict === 'fail' || row.verdict === 'dirty').length;
  const errors = rows.filter(
    (row) => row.verdict === 'inconclusive' || row.verdict === 'aborted',
  ).length;
  const time = rows.reduce((sum, row) => sum + row.duration_ms, 0) / 1000;
  const cases = rows.map(oneCase).join('\n');
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="${rows.length}" failures="${failures}" errors="${errors}" time="${time.toFixed(3)}">
<testsuite name="hopdrill" tests="${rows.length}" failures="${failures}" errors="${errors}" time="${time.toFixed(3)}">
${cases}
</testsuite>
</testsuites>
`;
}

function oneCase(row: Row): string {
  const [group = 'scenarios', ...rest] = row.scenario.split('/');
  const head = `<testcase classname="${escaped(group)}" name="${escaped(rest.join('/') || group)}" time="${(row.duration_ms / 1000).toFixed(3)}"`;
  if (row.verdict === 'pass')
    return row.why === ''
      ? `${head}/>`
      : `${head}><system-out>${escaped(row.why)}</system-out></testcase>`;
  const kind = row.verdict === 'fail' || row.verdict === 'dirty' ? 'failure' : 'error';
  return `${head}><${kind} type="${row.verdict}" message="${escaped(row.why)}">${escaped(`${row.why}\n${row.dir}`)}</${kind}></testcase>`;
}

/** Control characters are not allowed in XML at all, not even escaped. */
function escaped(text: string): string {
  const entities: Record<string, string> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
  };
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  const printable = text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, '');
  return printable.replace(/[&<>"]/g, (sign) => entities[sign] ?? sign);
}
