import type { Finding, HopDeclaration } from '../../../preflight/types.ts';
import { text } from '../flags.ts';
import { pressure, visitSeconds } from '../policies.ts';
import { evidence } from '../probe/http.ts';
import { withoutNode } from '../probe/node-context.ts';
import type { Session } from '../probe/session.ts';
import type { Facts } from '../probe/visit.ts';

const percentOf = (df: string | undefined): number | null => {
  const match = / (\d+)% /.exec(df ?? '');
  return match ? Number(match[1]) : null;
};

/**
 * What a failed write means. "Full" is only what the kernel calls full; the rest is another
 * trouble.
 */
function failedWrite(code: string, disk: Facts): Finding {
  const inodes = percentOf(disk.inodes);
  const where = `${disk.path}: ${disk.write}`;
  const full = (cause: string): Finding => ({
    status: 'fail',
    signal: 'disk_full',
    cause,
    blames: 'fs:/',
    summary: where,
  });
  const other = (cause: string): Finding => ({
    status: 'fail',
    signal: 'node_not_ready',
    cause,
    blames: 'fs:/',
    summary: where,
  });
  if (code === 'ENOSPC')
    return buffersFill(disk)
      ? { ...full('local_buffers'), signal: 'node_observability_disk_pressure' }
      : full(inodes === 100 ? 'inodes' : 'no_space');
  if (code === 'EDQUOT') return full('quota');
  if (code === 'EROFS') return other('fs_readonly');
  return other(code === 'EIO' ? 'io_error' : 'diagnostic_path_unwritable');
}

/** Logs and local state hold more than half of what is used: they are the cause, not the data. */
function buffersFill(disk: Facts): boolean {
  const used = Number(/^\S+\s+\d+\s+(\d+)\s+\d+\s+\d+% /m.exec(disk.df ?? '')?.[1] ?? 0);
  const buffers = [...(disk.buffers ?? '').matchAll(/^(\d+)\s/gm)].reduce(
    (sum, match) => sum + Number(match[1]),
    0,
  );
  return used > 0 && buffers * 2 > used;
}

export const nodeReadiness: HopDeclaration<Session> = {
  id: 'node_readiness',
  title: 'The agent can write where it must, and the root file system has room',
  section: 'root filesystem usage and diagnostic path writability',
  vantage: 'node_as_agent',
  after: [],
  explainedBy: [],
  signals: ['disk_full', 'node_observability_disk_pressure', 'node_not_ready'],
  deadlineMs: (policies) => visitSeconds(policies) * 1000,
  skip: (request) => (text(request, 'node-host') === undefined ? 'no --node-host' : null),
  run: async (session) => {
    const visit = await session.visit();
    const missing = withoutNode(visit);
    if (missing) return missing;
    const disk = visit.sections?.disk ?? {};
    const facts = {
      target: disk.path ?? null,
      evidence: [
        evidence('df', 'node', disk.df ?? null),
        evidence('write', 'node', disk.write ?? null),
        ...(disk.buffers ? [evidence('buffers', 'node', disk.buffers)] : []),
      ],
    };
    if (/no such user/.test(disk.broke ?? ''))
      return {
        ...facts,
        status: 'fail',
        signal: 'node_not_ready',
        cause: 'agent_user_missing',
        blames: 'unit:agent',
        summary: disk.broke ?? '',
      };
    if (disk.write === undefined)
      return {
        ...facts,
        status: 'unknown',
        summary: `the disk was not measured: ${disk.broke ?? 'no answer'}`,
      };
    const code = disk.write.split(' ')[1] ?? '';
    if (code !== 'ok') return { ...facts, ...failedWrite(code, disk) };
    const used = percentOf(disk.df);
    const limit = pressure(await session.policies());
    const summary = `/ ${used ?? '?'}% used, inodes ${percentOf(disk.inodes) ?? '?'}%, 64 KB written and synced as the agent in ${disk.write_ms} ms`;
    if (used !== null && used >= limit)
      return {
        ...facts,
        status: 'fail',
        signal: 'node_observability_disk_pressure',
        cause: buffersFill(disk) ? 'local_buffers' : 'pressure_threshold',
        blames: 'fs:/',
        summary: `${summary}; threshold ${limit}%`,
      };
    return { ...facts, status: 'pass', summary };
  },
};
