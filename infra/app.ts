import { App } from 'aws-cdk-lib';

new App().synth();
