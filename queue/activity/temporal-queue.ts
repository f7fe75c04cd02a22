import {
  Client,
  Connection,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  isGrpcServiceError,
  type WorkflowExecutionDescription,
} from '@temporalio/client';
import { SearchAttributeType, defineSearchAttributeKey } from '@temporalio/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { DEFAULT_POOL, taskQueueName } from '../../model/names';
import { workflowTimings } from '../../workflows/timings';
import { JOB_WORKFLOW, SIGNALS, type JobWorkflowInput } from '../../workflows/types';
import { registerSearchAttributes, type Registration } from './search-attributes';
import { QueueUnavailable, type JobQueue, type Inspection, type JobStart, type Notice } from '../port';

export interface TemporalQueueOptions {
  readonly address: string;
  readonly namespace: string;
  /** The Temporal UI, for links; undefined where there is none. */
  readonly uiUrl: string | undefined;
  readonly environment: string;
  readonly storeId: string;
  /** Longest call of the server, ms. */
  readonly deadlineMs: number;
  readonly heartbeatTimeoutMs: number;
  readonly unitBudgetMs: number;
  readonly rolloverEvents: number | null;
}

/** How long the search attributes may take to show, and when they are tried again, ms. */
const PREPARE_MS = 10_000;
const PREPARE_AGAIN_MS = 2_000;

const KEYWORD = SearchAttributeType.KEYWORD;
const ATTRIBUTES = {
  state: defineSearchAttributeKey('ItemwiseState', KEYWORD),
  capability: defineSearchAttributeKey('ItemwiseCapability', KEYWORD),
  tenant: defineSearchAttributeKey('ItemwiseTenant', KEYWORD),
};

/** Jobs as workflows, units as activities of them. Connects when first needed: the API starts without a server. */
export class TemporalQueue implements JobQueue {
  readonly kind = 'activity';
  private readonly connection: Connection;
  private readonly client: Client;
  /** Undefined until the server has answered. */
  private attributes: Registration | undefined;
  private closed = false;

  constructor(private readonly options: TemporalQueueOptions) {
    this.connection = Connection.lazy({
      address: options.address,
      connectTimeout: options.deadlineMs,
      // No retries of the client's own: they outlast the deadline, and the sweep tries again.
      interceptors: [],
    });
    this.client = new Client({ connection: this.connection, namespace: options.namespace });
  }

  /**
   * Sees to the search attributes, for as long as the server does not answer. Resolves when it has, be it with a no:
   * jobs run without them.
   */
  async prepare(): Promise<void> {
    while (!this.closed && !this.attributes) {
      const registration = await registerSearchAttributes(this.connection, this.options.namespace, {
        deadlineMs: PREPARE_MS,
      });
      if (registration.ok || (await this.ailment()) === undefined) this.attributes = registration;
      else await sleep(PREPARE_AGAIN_MS, undefined, { ref: false });
    }
  }

  async start(job: JobStart): Promise<void> {
    try {
      await this.call(() => this.startWorkflow(job));
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      if (job.generation === 1 || (await this.inspect(job.jobId, job.generation)).status === 'running') return;
      // A workflow of an older generation still runs; whatever it sends is refused. Its place is needed.
      await this.call(() =>
        this.client.workflow.getHandle(job.jobId).terminate('a newer generation of the job takes over'),
      );
      await this.call(() => this.startWorkflow(job));
    }
  }

  private startWorkflow(job: JobStart): Promise<unknown> {
    const { options } = this;
    const { jobId, jobNo, generation, total, tuning, paused, capability, tenant } = job;
    const input: JobWorkflowInput = {
      job: { jobId, jobNo, generation },
      capability,
      tenant,
      total,
      tuning,
      paused,
      timings: workflowTimings({ ...options, itemTimeoutMs: job.itemTimeoutMs }),
      searchAttributes: this.hasAttributes,
      rolloverEvents: options.rolloverEvents,
    };
    return this.client.workflow.start(JOB_WORKFLOW, {
      workflowId: jobId,
      taskQueue: taskQueueName(options.environment, options.storeId, DEFAULT_POOL),
      args: [input],
      workflowIdReusePolicy: generation === 1 ? 'REJECT_DUPLICATE' : 'ALLOW_DUPLICATE',
      workflowIdConflictPolicy: 'FAIL',
      memo: { generation, paused },
      staticSummary: `${capability} over ${total} items`,
      ...(input.searchAttributes && {
        typedSearchAttributes: [
          { key: ATTRIBUTES.state, value: 'expanding' },
          { key: ATTRIBUTES.capability, value: capability },
          { key: ATTRIBUTES.tenant, value: tenant },
        ],
      }),
    });
  }

  async notify(jobId: string, notice: Notice): Promise<boolean> {
    try {
      await this.call(() => this.client.workflow.getHandle(jobId).signal(SIGNALS[notice]));
      return true;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return false;
      throw error;
    }
  }

  async inspect(jobId: string, generation: number): Promise<Inspection> {
    let description: WorkflowExecutionDescription;
    try {
      description = await this.call(() => this.client.workflow.getHandle(jobId).describe());
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return { status: 'missing', paused: null };
      throw error;
    }
    const { generation: ofRun, paused } = description.memo ?? {};
    const heard = typeof paused === 'boolean' ? paused : null;
    if (ofRun !== generation) return { status: 'missing', paused: null };
    const { name } = description.status;
    if (name === 'TERMINATED') return { status: 'terminated', paused: heard };
    return { status: name === 'RUNNING' || name === 'CONTINUED_AS_NEW' ? 'running' : 'ended', paused: heard };
  }

  async ailment(): Promise<string | undefined> {
    try {
      await this.call(() => this.client.workflowService.describeNamespace({ namespace: this.options.namespace }));
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  warnings(): readonly string[] {
    if (!this.attributes || this.attributes.ok) return [];
    return [
      `Temporal refuses the search attributes, so its list of workflows cannot be filtered by them: ${this.attributes.reason}`,
    ];
  }

  private get hasAttributes(): boolean {
    return this.attributes?.ok ?? false;
  }

  url(jobId: string): string | undefined {
    const { uiUrl, namespace } = this.options;
    return uiUrl && `${uiUrl}/namespaces/${encodeURIComponent(namespace)}/workflows/${encodeURIComponent(jobId)}`;
  }

  async close(): Promise<void> {
    this.closed = true;
    await this.connection.close();
  }

  /** Every call of the server has a deadline, and one error for "not now". */
  private async call<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await this.connection.withDeadline(Date.now() + this.options.deadlineMs, work);
    } catch (error) {
      if (error instanceof WorkflowExecutionAlreadyStartedError || error instanceof WorkflowNotFoundError) throw error;
      if (isAway(error)) {
        throw new QueueUnavailable(`Temporal at ${this.options.address} cannot be reached: ${reason(error)}`, {
          cause: error,
        });
      }
      throw error;
    }
  }
}

/** gRPC codes: cancelled 1, deadline exceeded 4, resource exhausted 8, aborted 10, internal 13, unavailable 14. */
const AWAY = new Set([1, 4, 8, 10, 13, 14]);

function isAway(error: unknown): boolean {
  for (let current = error, depth = 0; current instanceof Error && depth < 5; current = current.cause, depth++) {
    if (isGrpcServiceError(current)) return AWAY.has(current.code);
    if (current.message.includes('Failed to connect before the deadline')) return true;
  }
  return false;
}

function reason(error: unknown): string {
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return inner instanceof Error ? inner.message : String(inner);
}
