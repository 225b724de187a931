import { describe, expect, it } from 'vitest';
import {
  isDone,
  isKept,
  isRetried,
  OUTCOMES,
  outcomeClass,
  outcomeSchema,
  stopsRun,
} from '../../../src/core/trajectory/outcome.ts';

/** outcome: class, and what is true of it. */
const TABLE = `
completed: completed kept done
partial/turns: partial kept done
partial/tokens: partial kept done
partial/time: partial kept done
partial/context: partial kept done
partial/budget: partial kept done
partial/length: partial kept done
discarded/no_reasoning: discarded done
discarded/invalid_tool: discarded done
failed/model_error: failed retried
failed/auth: failed stops
failed/credits: failed stops
failed/rate_limited: failed retried
failed/content_filter: failed
failed/sandbox_lost: failed retried
failed/image_unavailable: failed
failed/tool_crash: failed retried
failed/cancelled: failed
failed/internal: failed retried
`;

describe('outcomes', () => {
  it('are the closed set of the design, each kept, done, retried or stopping as it says', () => {
    const lines = OUTCOMES.map((outcome) => {
      const traits = [
        isKept(outcome) ? ' kept' : '',
        isDone(outcome) ? ' done' : '',
        isRetried(outcome) ? ' retried' : '',
        stopsRun(outcome) ? ' stops' : '',
      ];
      return `${outcome}: ${outcomeClass(outcome)}${traits.join('')}`;
    });
    expect(lines.join('\n')).toBe(TABLE.trim());
  });

  it.each(['partial', 'failed/', 'failed/unknown', 'Completed', ''])('%j is none', (text) => {
    expect(outcomeSchema.safeParse(text).success).toBe(false);
  });
});
