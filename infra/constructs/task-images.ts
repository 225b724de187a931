import { DockerImageAsset, Platform } from 'aws-cdk-lib/aws-ecr-assets';
import { Construct } from 'constructs';
import type { Settings } from '../settings.ts';

const DOCKERFILE = 'containers/worker/Dockerfile';

/** The images that tasks are made of, beside those that rows name. */
export class TaskImages extends Construct {
  /** Of the agent and init containers. */
  readonly worker: string;
  /** For rows without image. */
  readonly default: string;

  /** Names the worker image for arm64, where there is one. */
  readonly arm64Environment: Record<string, string>;

  constructor(
    scope: Construct,
    id: string,
    props: Pick<Settings, 'workerImage' | 'workerImageArm64' | 'defaultImage'>,
  ) {
    super(scope, id);
    const { workerImageArm64 } = props;
    this.arm64Environment =
      workerImageArm64 === undefined ? {} : { WORKER_IMAGE_ARM64: workerImageArm64 };
    this.worker = this.image('Worker', props.workerImage, 'worker');
    this.default = this.image('Default', props.defaultImage, 'default-image');
  }

  /** As it is named, or built while the stack is deployed: synthesis only reads the files. */
  private image(id: string, named: string, target: string): string {
    if (named !== 'build') return named;
    return new DockerImageAsset(this, id, {
      directory: process.cwd(),
      file: DOCKERFILE,
      target,
      // Tasks are amd64, wherever the stack is deployed from.
      platform: Platform.LINUX_AMD64,
    }).imageUri;
  }
}
