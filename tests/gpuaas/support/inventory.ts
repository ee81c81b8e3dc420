// Everything on the targets of a stack that a run could leave something in, as one comparable value.
import { ExecaSyncError } from 'execa';
import { byHand, profileOfSuite, stackOfSuite } from './proof.ts';

/** The agent keeps what it replaced as `.previous`: its own doing, and no trace of a run. */
const nodeScript = `echo '== rules'; iptables -S | sort
echo '== files'; find /etc /usr/local /var/lib/hopdrill /root /opt -xdev 2>/dev/null | grep -v '^/etc/gpuaas/.*\\.previous$' | sort
echo '== units'; systemctl list-units --all --no-legend --plain --type=service,timer,path | awk '{ print $1 }' | grep -v '^user' | sort
echo '== ssh sessions'; ss -tnH state established '( sport = :22 )' | wc -l
echo '== users'; cut -d: -f1,3,7 /etc/passwd`;

const partScript = `find /etc/nginx /var/lib/hopdrill /var/lib/bind /etc/gpuaas-* -type f 2>/dev/null | sort | xargs -r sha256sum`;

const databaseScript = `exec setpriv --reuid postgres --regid postgres --clear-groups psql -X -q -t -A -d gpuaas <<SQL
select 'slot ' || slot_name from pg_replication_slots order by 1;
select 'bytes held back ' || coalesce(max(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)), 0) from pg_replication_slots;
select 'session ' || application_name from pg_stat_activity where application_name like 'hopdrill%' order by 1;
SQL`;

/**
 * By target; two inventories are equal when nothing was left and nothing is missing. A container that
 * a killed run left stopped is a difference like any other, until the watchdog has started it again.
 */
export async function inventory(): Promise<Record<string, string[]>> {
  const profile = profileOfSuite();
  const found: Record<string, string[]> = {};
  for (const node of Object.keys(profile.nodes)) found[node] = linesOf(node, nodeScript);
  for (const part of Object.keys(profile.parts)) found[part] = linesOf(part, partScript);
  found.database = linesOf('db', databaseScript);
  found.links = await toxics();
  return found;
}

/** What a target of a stack at rest never says. */
export const unreadable = 'cannot be read: ';

function linesOf(target: string, script: string): string[] {
  try {
    return byHand(target, script)
      .split('\n')
      .filter((line) => line !== '');
  } catch (cause) {
    if (!(cause instanceof ExecaSyncError)) throw cause;
    return [`${unreadable}${cause.stderr || cause.shortMessage}`];
  }
}

async function toxics(): Promise<string[]> {
  const url = profileOfSuite().links?.toxiproxy;
  if (url === undefined) throw new Error(`stack ${stackOfSuite()} has no toxiproxy`);
  const proxies = (await (await fetch(`${url}/proxies`)).json()) as Record<string, object>;
  return Object.values(proxies)
    .map((proxy) => JSON.stringify(proxy))
    .sort();
}

/** What differs, a line each, for the message of a test. */
export function differences(
  before: Readonly<Record<string, readonly string[]>>,
  after: Readonly<Record<string, readonly string[]>>,
): string[] {
  return Object.keys({ ...before, ...after }).flatMap((place) => {
    const [was, is] = [before[place] ?? [], after[place] ?? []];
    return [
      ...is.filter((line) => !was.includes(line)).map((line) => `${place}: new: ${line}`),
      ...was.filter((line) => !is.includes(line)).map((line) => `${place}: gone: ${line}`),
    ];
  });
}
