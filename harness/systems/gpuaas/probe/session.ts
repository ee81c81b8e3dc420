// What one preflight knows and how it asks: every question at most once, shared by the hops that
// need its answer.
import type { Policies, Request, RunHandle } from '../../../preflight/types.ts';
import { on, text } from '../flags.ts';
import { pty, publicSeconds, seedDefaults, sessionSeconds } from '../policies.ts';
import { type Conversation, converse } from './conversation.ts';
import { type Credentials, credentialsOf, hasOperator } from './credentials.ts';
import { at, granted, str } from './http.ts';
import { once } from './lazy.ts';
import { type PublicSide, publicSide } from './public-side.ts';
import { readModel } from './read-model.ts';
import { localRecord } from './record.ts';
import { type Visit, visitNode } from './visit.ts';
import { secondLook, type Way } from './ways.ts';
import { type Word, wordOf } from './word.ts';

export { hasOperator, hasUser, lacksForTerminal } from './credentials.ts';

export interface Session extends Credentials, PublicSide {
  readonly request: Request;
  readonly run: RunHandle;
  readonly visit: () => Promise<Visit>;
  /** What the agent itself says stands in its way; null when it says nothing that counts. */
  readonly word: () => Promise<Word | null>;
  /** Both ways of the node, measured once more; null when the node did not answer that. */
  readonly secondLook: () => Promise<readonly Way[] | null>;
  /** Null when there is no token to show. */
  readonly terminal: () => Promise<Conversation | null>;
}

/** A public API that does not answer must not keep the node from being asked. */
const soon = (policies: Promise<Policies>): Promise<Policies> =>
  Promise.race([
    policies,
    new Promise<Policies>((resolve) => setTimeout(() => resolve(seedDefaults), 1500).unref()),
  ]);

/** The minted token; without an allocation a made-up one, when the smoke was asked for. */
async function tokenToShow(request: Request, open: PublicSide): Promise<string | null> {
  if (text(request, 'allocation-id') === undefined)
    return on(request, 'run-ws-smoke') ? 'preflight-smoke' : null;
  const minted = await open.mint();
  return granted(minted) ? str(at(minted.json, 'token')) : null;
}

export function openSession(request: Request, run: RunHandle): Session {
  const credentials = credentialsOf(request);
  const open = publicSide(request, run, credentials);
  const terminal = once(async (): Promise<Conversation | null> => {
    const token = await tokenToShow(request, open);
    if (token === null) return null;
    const [policies, cookie, trust] = await Promise.all([
      open.policies(),
      credentials.cookie(),
      open.publicTrust(),
    ]);
    return converse({
      url: `${(text(request, 'terminal-base') ?? '').replace(/^http/, 'ws')}/ws/terminal`,
      token,
      cookie,
      correlationId: run.correlationId,
      ...trust,
      upgradeMs: publicSeconds * 1000,
      sessionMs: sessionSeconds(policies) * 1000,
      answerMs: pty(policies) * 1000,
      defer: run.defer,
    });
  });
  const visit = once(() =>
    visitNode(request, open.nodeId(), soon(open.policies()), run.correlationId, run.defer),
  );
  const word = once(async () => {
    if (text(request, 'node-host') === undefined) return null;
    const [seen, policies] = await Promise.all([visit(), open.policies()]);
    if (localRecord(seen) === null) return null;
    const asksApi = text(request, 'api-base') !== undefined && hasOperator(request);
    return wordOf(seen, asksApi ? readModel(await open.node()) : null, policies);
  });
  const again = once(async () => secondLook(await visit()));
  return { request, run, ...credentials, ...open, visit, word, secondLook: again, terminal };
}
