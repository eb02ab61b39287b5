import { type RunningApi, startApi } from '../../src/compose/api.js';
import { type Config, readConfig } from '../../src/config.js';
import { createApplication, type Listening, listen } from '../../src/http/server.js';
import { createLogger } from '../../src/log.js';
import { createDecisionPoint } from '../../src/pdp/endpoints.js';
import { Replica } from '../../src/pdp/follow/replica.js';
import { type Client, client } from '../support/client.js';
import { newPlace, type Place } from '../support/management.js';
import { freePort } from '../support/ports.js';
import { createDatabase, type TestDatabase } from '../support/postgres.js';
import { settings } from '../support/stack.js';
import { removeFolder, temporaryFolder } from '../support/temporary.js';
import { MoodyAssembler } from './moody-assembler.js';

/** Time to wait for a revision's policy, in milliseconds. */
const policyWait = 20;

/** An API with a compiler that can be made to fail, on the server store. It restarts at the same address. */
export class MoodyApi {
	readonly #log = createLogger('silent');

	private constructor(
		private readonly config: Config,
		private readonly folder: string,
		private readonly database: TestDatabase,
		private running: RunningApi,
		readonly assembler: MoodyAssembler,
	) {}

	static async start(): Promise<MoodyApi> {
		const folder = temporaryFolder();
		const database = await createDatabase();
		const port = String(await freePort());
		const config = readConfig({ ...settings(folder, 'test'), API_PORT: port, DATABASE_URL: database.url });
		const assembler = new MoodyAssembler();
		const running = await startApi(config, createLogger('silent'), { policyWait, assembler: assembler.make });
		return new MoodyApi(config, folder, database, running, assembler);
	}

	get store(): RunningApi['store'] {
		return this.running.store;
	}

	get url(): string {
		return this.running.listening.url;
	}

	/** Creates an environment. */
	place(): Promise<Place> {
		return newPlace(this, client(this.url, this.config.bootstrap.organization ?? ''));
	}

	async restart(): Promise<void> {
		await this.running.stop();
		this.running = await startApi(this.config, this.#log, { policyWait, assembler: this.assembler.make });
	}

	async stop(): Promise<void> {
		await this.running.stop();
		await this.database.drop();
		removeFolder(this.folder);
	}
}

/**
 * A restartable decision point for an environment. Requests by `hasty` wait only briefly for a policy, and requests by
 * `patient` up to a minute.
 */
export class RestartablePdp {
	#replica: Replica | undefined;
	#servers: readonly Listening[] = [];
	hasty: Client = client('');
	patient: Client = client('');

	constructor(
		private readonly controlPlane: string,
		private readonly apiKey: string,
	) {}

	get replica(): Replica {
		if (this.#replica === undefined) throw new Error('the decision point is not started');
		return this.#replica;
	}

	async start(): Promise<void> {
		const { controlPlane, apiKey } = this;
		const log = createLogger('silent');
		const pace = { first: 5, longest: 40, refused: 40 };
		const replica = new Replica({ controlPlane, apiKey, log, pace });
		this.#replica = replica;
		replica.start();
		const onUnexpected = (error: unknown) => {
			throw error;
		};
		const serve = async (revisionWait: number) => {
			const point = createDecisionPoint({ replica, apiKey, log, revisionWait });
			return listen(createApplication({ ...point, onUnexpected }), '127.0.0.1', 0);
		};
		const [hasty, patient] = await Promise.all([serve(40), serve(60_000)]);
		this.#servers = [hasty, patient];
		this.hasty = client(hasty.url, apiKey);
		this.patient = client(patient.url, apiKey);
	}

	async stop(): Promise<void> {
		await this.#replica?.stop();
		for (const server of this.#servers) await server.close(0);
	}
}
