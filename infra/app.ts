import { App } from 'aws-cdk-lib';
import { checkAwsSolutions } from './nag.ts';
import { readSettings } from './settings.ts';
import { TalariaStack } from './talaria-stack.ts';

const app = new App();
const settings = readSettings(app.node.getAllContext());
new TalariaStack(app, 'Talaria', {
  stackName: settings.stackName,
  description: 'Talaria: upload prompts, get trajectories',
  env: { account: settings.account, region: settings.region },
  settings,
});
checkAwsSolutions(app);
app.synth();
