// Loaded before hopdrill (NODE_OPTIONS=--import): writes down every name that is looked up and
// every address that is connected to. A public name of the stack goes to an address that the
// profile gives, without a look-up; so it is the address that counts.
import dns from 'node:dns';
import { appendFileSync } from 'node:fs';
import net from 'node:net';

const file = process.env.PROOF_ADDRESSES ?? '/dev/null';
const note = (kind: string, what: string): void => appendFileSync(file, `${kind} ${what}\n`);

type Anything = (...args: unknown[]) => unknown;

/**
 * `connect` takes a port and a host, an options object, or what net itself made of either: a list
 * that begins with the options.
 */
const socket = net.Socket.prototype as unknown as { connect: Anything };
const { connect } = socket;
socket.connect = function (this: unknown, ...args: unknown[]) {
  const first: unknown = Array.isArray(args[0]) ? args[0][0] : args[0];
  const options = (typeof first === 'object' ? first : { host: args[1] }) as {
    path?: string | null;
    host?: string | null;
  };
  const to = options.path ?? options.host ?? 'localhost';
  if (options.path || net.isIP(to) !== 0) note('connect', to);
  (this as net.Socket).once('connect', () =>
    note('connected', (this as net.Socket).remoteAddress ?? to),
  );
  return connect.apply(this, args);
};

const names = dns as unknown as { lookup: Anything };
const { lookup } = names;
names.lookup = (host, ...rest) => {
  note('lookup', String(host));
  return lookup(host, ...rest);
};
