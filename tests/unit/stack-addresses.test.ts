import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addressesOf, overlaps, slotCount, slotIsClear } from '../../harness/stack/addresses.ts';
import { networksPerSlot, portsPerSlot } from '../../harness/stack/declaration.ts';

const slot = fc.integer({ min: 0, max: slotCount - 1 });
const named = (count: number, letter: string) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${letter}${index}`, 'X']));
/** All that a place has room for. */
const full = { networks: named(networksPerSlot, 'n'), ports: named(portsPerSlot, 'p') };
const placeOf = (n: number) => addressesOf(n, full);
const networksOf = (n: number) =>
  Object.values(placeOf(n).network).map((prefix) => `${prefix}.0/24`);
const portsOf = (n: number) => Object.values(placeOf(n).port);

test('two slots share neither network nor port', () => {
  fc.assert(
    fc.property(slot, slot, (a, b) => {
      fc.pre(a !== b);
      expect(networksOf(a).some((one) => networksOf(b).some((other) => overlaps(one, other)))).toBe(
        false,
      );
      const ports = new Set(portsOf(a));
      expect(portsOf(b).filter((port) => ports.has(port))).toEqual([]);
    }),
  );
});

test('every slot lies in 198.18.0.0/15 and below the ephemeral ports', () => {
  fc.assert(
    fc.property(slot, (n) => {
      expect(networksOf(n).every((network) => overlaps(network, '198.18.0.0/15'))).toBe(true);
      expect(Math.max(...portsOf(n))).toBeLessThan(32_768);
    }),
  );
});

test.each([
  ['198.18.0.0/24', '198.18.0.0/24', true],
  ['198.18.0.0/24', '198.18.0.128/25', true],
  ['198.18.4.0/22', '198.18.6.0/24', true],
  ['198.18.1.0/24', '198.18.2.0/24', false],
  ['172.17.0.0/16', '198.18.0.0/24', false],
  ['fd00::/64', '198.18.0.0/24', false],
])('%s and %s overlap: %s', (one, other, expected) => {
  expect(overlaps(one, other)).toBe(expected);
  expect(overlaps(other, one)).toBe(expected);
});

test('a network left over from a dead stack keeps its slot taken', () => {
  expect(slotIsClear(placeOf(3), ['172.17.0.0/16'])).toBe(true);
  expect(slotIsClear(placeOf(3), networksOf(3).slice(1, 2))).toBe(false);
});
