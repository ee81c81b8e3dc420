// The Toxiproxy image. Its server is a static binary: compiled by this machine's Go where there is
// one, else inside a builder image that is thrown away. The binary is kept, so it is compiled once.
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { debianMirror, readAptSources } from '../bootstrap/apt.mjs';
import { isEnding, repoRoot, run, say, stateDir, which } from '../bootstrap/machine.mjs';
import { docker } from '../docker-cli.ts';
import { build, buildCommand, logFileOf } from './docker.ts';
import { toxiproxyImage as image } from './own.ts';

const version = '2.12.0';
const builder = `${image}-builder`;
const recipe = join(repoRoot, 'fixtures', 'images', image);

async function compileHere(work: string): Promise<string | null> {
  const go = which('go');
  if (go === null || process.platform !== 'linux') return null;
  const ldflags = `-s -w -X github.com/Shopify/toxiproxy/v2.Version=${version}`;
  const what = `github.com/Shopify/toxiproxy/v2/cmd/server@v${version}`;
  const args = ['install', '-ldflags', ldflags, what];
  try {
    await buildCommand(image, logFileOf(image), go, args, { CGO_ENABLED: '0', GOBIN: work });
    return join(work, 'server');
  } catch (error) {
    if (isEnding()) throw error;
    say(`set-up: ${image}: this machine's Go did not do, using a builder image\n${String(error)}`);
    return null;
  }
}

/** Networks that inspect TLS: the machine's own trust bundle goes to the builder, never further. */
function hostTrust(): string | null {
  const named = [process.env.NODE_EXTRA_CA_CERTS, process.env.SSL_CERT_FILE];
  const usual = ['/etc/ssl/certs/ca-certificates.crt', '/etc/pki/tls/cert.pem'];
  return [...named, ...usual].find((file) => file !== undefined && existsSync(file)) ?? null;
}

async function compileInBuilder(base: string, work: string): Promise<string> {
  const context = join(work, 'builder');
  mkdirSync(context);
  const trust = hostTrust();
  if (trust === null) writeFileSync(join(context, 'host-ca.crt'), '');
  else copyFileSync(trust, join(context, 'host-ca.crt'));
  const env = process.env;
  const args = {
    BASE: base,
    MIRROR: debianMirror(readAptSources()),
    VERSION: version,
    GOPROXY: env.GOPROXY ?? '',
    GOFLAGS: env.GOFLAGS ?? '',
  };
  const tag = `${builder}:${version}`;
  await build({
    image: builder,
    tag,
    dockerfile: join(recipe, 'Dockerfile.builder'),
    context,
    args,
  });
  const container = await docker(['create', tag, 'true']);
  try {
    await docker(['cp', `${container}:/out/server`, join(work, 'server')]);
  } finally {
    await docker(['rm', container]);
    await docker(['rmi', tag]);
  }
  return join(work, 'server');
}

const isRight = async (binary: string) =>
  process.platform !== 'linux' || (await run(binary, ['-version'])).stdout.includes(version);

async function serverBinary(base: string, work: string): Promise<string> {
  const kept = join(stateDir(), `toxiproxy-server-${version}-${process.arch}`);
  if (existsSync(kept) && (await isRight(kept))) return kept;
  const made = (await compileHere(work)) ?? (await compileInBuilder(base, work));
  chmodSync(made, 0o755);
  if (!(await isRight(made))) throw new Error(`the compiled Toxiproxy does not say ${version}`);
  // Renamed into place: a copy that was cut short must not be taken for the binary.
  copyFileSync(made, `${kept}.new`);
  renameSync(`${kept}.new`, kept);
  return kept;
}

export async function makeToxiproxy(tag: string, base: string): Promise<void> {
  const work = mkdtempSync(join(tmpdir(), 'toxiproxy-'));
  try {
    const context = join(work, 'image');
    mkdirSync(context);
    copyFileSync(await serverBinary(base, work), join(context, 'toxiproxy-server'));
    const dockerfile = join(recipe, 'Dockerfile');
    await build({ image, tag, dockerfile, context, args: { BASE: base } });
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
