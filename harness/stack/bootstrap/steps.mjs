// The prerequisites in the order in which each needs the ones before it, and which command needs
// which.

import { dockerClient, engine } from './engine.mjs';
import { images } from './images-step.mjs';
import { node24 } from './node24.mjs';
import { packages } from './packages.mjs';
import { buildx, compose } from './plugins.mjs';
import { curl, openssl, patch, ssh } from './tools.mjs';

/**
 * @typedef {{ ok: true, version: string, where: string } | { ok: false, missing: string, command?:
 * string }} Finding
 */
/**
 * @typedef {object} Step
 * @property {string} name
 * @property {string} why what it is needed for
 * @property {string} command what a person would do to get it
 * @property {() => Finding | Promise<Finding>} check looks, and changes nothing
 * @property {number} [rounds] how often the cure may be tried, where somebody edits what it works
 * from; else once
 * @property {() => void | Promise<void>} cure makes it so, or throws a SetupError
 */

const withoutEngine = [packages, node24];
const withEngine = [...withoutEngine, dockerClient, engine, compose, buildx, images];
const compared = [ssh, curl, openssl];

/** @type {Step[]} */
export const steps = [...withEngine, patch, ...compared];

/** @param {Step[]} needed */
const names = (needed) => needed.map((step) => step.name);

/** Every purpose that `setup --for` knows, with the names of the steps that it needs. */
/** @type {Record<string, string[]>} */
export const purposes = {
  check: names(withoutEngine),
  unit: names([...withoutEngine, patch]),
  test: names([...withEngine, patch]),
  prove: names(withEngine),
  chaos: names(withEngine),
  bench: names([...withEngine, ...compared]),
  up: names(withEngine),
};
