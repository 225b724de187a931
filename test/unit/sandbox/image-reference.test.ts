import { describe, expect, it } from 'vitest';
import {
  isImageId,
  parseImageReference,
  pinOf,
  withoutDoubt,
} from '../../../src/adapters/sandbox/docker/image-reference.ts';

const A = `sha256:${'a'.repeat(64)}`;
const B = `sha256:${'b'.repeat(64)}`;
const ID = `sha256:${'1'.repeat(64)}`;

describe('parseImageReference', () => {
  it.each([
    ['debian', 'docker.io', 'docker.io/library/debian', 'debian', '', ''],
    ['debian:12', 'docker.io', 'docker.io/library/debian', 'debian', '12', ''],
    ['jo/tool', 'docker.io', 'docker.io/jo/tool', 'jo/tool', '', ''],
    ['docker.io/debian:12', 'docker.io', 'docker.io/library/debian', 'docker.io/debian', '12', ''],
    ['index.docker.io/jo/x', 'docker.io', 'docker.io/jo/x', 'index.docker.io/jo/x', '', ''],
    ['localhost/x', 'localhost', 'localhost/x', 'localhost/x', '', ''],
    ['Host/x', 'Host', 'Host/x', 'Host/x', '', ''],
    ['host:5000/x', 'host:5000', 'host:5000/x', 'host:5000/x', '', ''],
    [`ghcr.io/a/b:1@${A}`, 'ghcr.io', 'ghcr.io/a/b', 'ghcr.io/a/b', '1', A],
    [`[::1]:5000/x@${A}`, '[::1]:5000', '[::1]:5000/x', '[::1]:5000/x', '', A],
  ])('reads %s', (reference, registry, repository, name, tag, digest) => {
    const expected = { registry, repository, name, tag, digest };
    expect(parseImageReference(reference)).toEqual(expected);
  });
});

describe('withoutDoubt', () => {
  it.each([
    ['debian', 'debian:latest'],
    ['host:5000/x', 'host:5000/x:latest'],
    ['debian:12', 'debian:12'],
    [`debian:12@${A}`, `debian@${A}`],
    [`host:5000/x@${A}`, `host:5000/x@${A}`],
    [ID, ID],
  ])('asks for %s by %s', (reference, expected) => {
    expect(withoutDoubt(reference)).toBe(expected);
  });
});

describe('pinOf', () => {
  it.each([
    ['debian:12', [`debian@${A}`], `debian:12@${A}`],
    ['docker.io/library/debian:12', [`debian@${A}`], `docker.io/library/debian:12@${A}`],
    ['debian', [`mirror.example/debian@${B}`, `debian@${A}`], `debian@${A}`],
    [`debian@${B}`, [`debian@${A}`, `debian@${B}`], `debian@${B}`],
    // Tagged here, pulled from elsewhere: the content can be had there again.
    ['mine:1', [`host:5000/x@${A}`], `host:5000/x@${A}`],
    ['mine:1', [], ID],
    ['mine:1', ['<none>@<none>'], ID],
    [ID, [`debian@${A}`], ID],
  ])('pins %s, which is %j, to %s', (reference, repositoryDigests, expected) => {
    const pin = pinOf(reference, { id: ID, repositoryDigests });
    expect(pin).toBe(expected);
    // A pin is pinned to itself.
    expect(pinOf(pin, { id: ID, repositoryDigests })).toBe(pin);
    expect(isImageId(pin)).toBe(pin === ID);
  });
});
