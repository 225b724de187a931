import {
  SandboxFileError,
  SandboxLostError,
  SandboxProcessError,
} from '../../../core/ports/sandbox.ts';
import type { ErrorMessage } from './messages.ts';

const MAX_MESSAGE = 50_000;

/** An executor's error as it travels; whatever it did not foresee is the sandbox's own fault. */
export function errorToMessage(error: unknown): ErrorMessage {
  const message = (error instanceof Error ? error.message : String(error)).slice(0, MAX_MESSAGE);
  if (error instanceof SandboxFileError) return { kind: 'file', code: error.code, message };
  if (error instanceof SandboxProcessError) return { kind: 'process', code: error.code, message };
  return { kind: 'lost', message };
}

export function messageToError(of: ErrorMessage): Error {
  switch (of.kind) {
    case 'file':
      return new SandboxFileError(of.message, of.code);
    case 'process':
      return new SandboxProcessError(of.message, of.code);
    case 'lost':
      return new SandboxLostError(of.message);
  }
}
