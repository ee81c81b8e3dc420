import { z } from 'zod';
import { defineView } from '../../view.ts';
import { mustOnNode, nodeModel } from '../platform.ts';
import { beat, stale } from '../policies.ts';

const serialOnNode = ['openssl', 'x509', '-noout', '-serial', '-in', '/etc/gpuaas/cert.pem'];

export const trust = defineView({
  title: "the node's certificate: the one that it holds, and the one that was accepted last",
  fields: z.object({
    on_node: z.string(),
    accepted: z.string(),
    accepted_is_on_node: z.boolean(),
    not_after: z.string().nullable(),
    valid: z.boolean(),
  }),
  within: (policies) => stale(policies) + 2 * beat(policies),
  async read(context) {
    const [{ heartbeat }, said] = await Promise.all([
      nodeModel(context),
      mustOnNode(context, serialOnNode),
    ]);
    const onNode = plainSerial(said.split('=')[1] ?? '');
    const accepted = plainSerial(heartbeat.cert_serial ?? '');
    const { cert_not_after: notAfter } = heartbeat;
    return {
      on_node: onNode,
      accepted,
      accepted_is_on_node: onNode !== '' && onNode === accepted,
      not_after: notAfter,
      valid: notAfter !== null && Date.parse(notAfter) > Date.now(),
    };
  },
});

function plainSerial(text: string): string {
  return text
    .trim()
    .replace(/[^0-9a-f]/gi, '')
    .replace(/^0+/, '')
    .toLowerCase();
}
