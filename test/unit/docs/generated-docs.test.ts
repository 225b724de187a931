import { expect, it } from 'vitest';
import { flagsPage } from '../../../src/core/run/flags-page.ts';
import { trajectoryJsonSchema } from '../../../src/core/trajectory/trajectory.ts';

// After a change of a schema: `npx vitest run --project unit -u` writes both files anew.

it('has docs/flags.md as the schema of the settings makes it', async () => {
  await expect(flagsPage()).toMatchFileSnapshot('../../../docs/flags.md');
});

it('has docs/trajectory.schema.json as the schema of the rows makes it', async () => {
  const schema = `${JSON.stringify(trajectoryJsonSchema(), null, 2)}\n`;
  await expect(schema).toMatchFileSnapshot('../../../docs/trajectory.schema.json');
});
