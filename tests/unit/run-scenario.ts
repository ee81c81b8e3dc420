// The smallest scenario that can be judged.
import type { Scenario, ScenarioFile } from '../../harness/records/scenario.ts';

export const expected: ScenarioFile['expect'] = {
  hop: 'h',
  signal: 's',
  cause: 'c',
  within: 'default',
  never: [],
};
export const scenario = (expect: Partial<ScenarioFile['expect']> = {}): Scenario => ({
  file: 'a.yaml',
  positions: {
    'expect.hop': { line: 3, column: 8 },
    'expect.signal': { line: 4, column: 11 },
    'expect.also': { line: 9, column: 1 },
  },
  record: {
    scenario: 'a',
    title: 't',
    why: 'w',
    source: ['x'],
    severity: 'P1',
    system: 'one-hop',
    tags: [],
    target: {},
    faults: [{ f: {} }],
    preflight: [],
    expect: { ...expected, ...expect },
    repair: 'revert',
    recover: { within: 'default', proof: ['preflight-green'] },
  },
});
