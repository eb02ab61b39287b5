import { z } from 'zod';
import { documentSteps } from '../../compiler/index.js';
import { readAliases } from '../../compiler/opa/build.js';
import { type BundleFile, manifest, manifestFile } from '../bundle/bundle.js';
import { Failure } from '../failure.js';
import { SliceScheduler } from '../limit/slice-scheduler.js';
import { readModel } from '../store/model/model.js';
import type { PolicyStore } from '../store/policy/policy-store.js';
import type { Store } from '../store/store.js';
import type { BundlePacker } from './bundle-packer.js';
import type { Flavour } from './flavour.js';
import { headIn, type LiveHead } from './head.js';
import { manifestParts } from './manifest-parts.js';
import type { Publisher } from './publisher.js';
import type { SnapshotFolder } from './snapshot-folder.js';
import type { DataState } from './try-change.js';

/** Bundle with a complete environment. */
export interface Snapshot extends DataState {
	readonly bytes: Uint8Array;
}

interface StoredSnapshot extends DataState {
	readonly label: string;
	readonly flavour: string;
	/** Fingerprint of the signing key; `undefined` if the snapshot is not signed. */
	readonly signedBy: string | undefined;
}

const labelForm = /^r(\d+)-([0-9a-f]{16})-([0-9a-f]{1,16})-([0-9a-f]{64})\.(wasm|rego)(?:\.([0-9a-f]{16}))?$/;

/** Builds complete bundles on demand. Stores the newest bundle per environment and flavour as a file. */
export class Snapshots {
	readonly #building = new Map<string, Promise<Snapshot>>();
	readonly #slices = new SliceScheduler();

	constructor(
		private readonly store: Store,
		private readonly policies: PolicyStore,
		private readonly publisher: Publisher,
		private readonly folder: SnapshotFolder,
		private readonly packer: BundlePacker,
	) {}

	/**
	 * Deletes the files of deleted environments, now and whenever an environment is deleted later. Also deletes files
	 * from a different history, and incomplete files left by a killed process.
	 */
	async start(): Promise<void> {
		this.publisher.events.on('gone', (environmentId) => void this.forget(environmentId));
		for (const environmentId of await this.folder.environments()) {
			if (!z.uuid().safeParse(environmentId).success) continue;
			const counters = await this.store.counters(environmentId);
			if (counters === null) await this.forget(environmentId);
			else {
				await this.folder.sweep(environmentId);
				await this.#dropOthers(environmentId, counters.lineage);
			}
		}
	}

	/**
	 * Returns a snapshot with the active policy, at revision `oldest` or later. Returns `moved` if the head's lineage
	 * has ended. Throws `not_found`.
	 */
	async get(environmentId: string, flavour: Flavour, head: LiveHead, oldest: number): Promise<Snapshot | 'moved'> {
		if (await this.#dropOthers(environmentId, head.lineage)) return 'moved';
		const stored = head.pending === null ? await this.#stored(environmentId, flavour) : null;
		const fits =
			stored !== null && stored.digest === head.digest && stored.revision >= oldest && stored.revision <= head.revision;
		if (fits) {
			const bytes = await this.folder.read(environmentId, stored.label);
			if (bytes !== null) return { ...stored, bytes };
		}
		for (;;) {
			const snapshot = await this.#joinBuild(environmentId, flavour, head);
			if (snapshot.lineage !== head.lineage) return 'moved';
			// The build may have begun before the wanted revision, for an earlier caller.
			if (snapshot.revision >= oldest) return snapshot;
		}
	}

	/** Deletes all files for an environment. */
	async forget(environmentId: string): Promise<void> {
		await this.folder.forget(environmentId);
	}

	#joinBuild(environmentId: string, flavour: Flavour, head: LiveHead): Promise<Snapshot> {
		const name = `${environmentId}/${flavour}`;
		const running = this.#building.get(name);
		if (running !== undefined) return running;
		const building = this.#build(environmentId, flavour, head).finally(() => this.#building.delete(name));
		this.#building.set(name, building);
		return building;
	}

	async #build(environmentId: string, flavour: Flavour, seen: LiveHead): Promise<Snapshot> {
		for (let wanted = seen; ; ) {
			const built = await this.store.snapshot(environmentId, async (unit, _, counters) => {
				const head = await headIn(unit, counters, wanted);
				if (head === null) return null;
				const inForce = head.pending === null ? null : await unit.schemaInForce();
				const model = await readModel(unit);
				const formerLineages = await unit.formerLineages();
				return { head, formerLineages, model: inForce === null ? model : { ...model, in_force: inForce } };
			});
			// The schema, the policy or the lineage has changed since the caller read the head: compile first.
			if (built === null) {
				const { digest, ...head } = await this.publisher.head(environmentId);
				if (digest === null) throw new Failure('unavailable', 'the environment has no policy yet');
				wanted = { ...head, digest };
				continue;
			}
			const { head, formerLineages, model } = built;
			const { lineage, revision, token, digest, pending } = head;
			const bytes = await this.packer.pack([
				manifestFile(manifest(manifestParts(environmentId, head, { kind: 'snapshot', formerLineages }, flavour))),
				{ path: 'data.json', bytes: await this.#slices.run(documentSteps(model)) },
				...(await this.#policyFiles(digest, flavour)),
			]);
			const snapshot = { lineage, revision, token, digest, pending, bytes };
			// A snapshot with a suspension is soon outdated, so it is not stored.
			if (pending === null) await this.#keepNewest(environmentId, flavour, snapshot);
			return snapshot;
		}
	}

	async #policyFiles(digest: string, flavour: Flavour): Promise<readonly BundleFile[]> {
		const missing = () => new Error(`the policy ${digest} is not stored`);
		if (flavour === 'wasm') {
			const wasm = await this.policies.wasm(digest);
			if (wasm === null) throw missing();
			return [{ path: 'policy.wasm', bytes: wasm }];
		}
		const files = await this.policies.files(digest);
		if (files === null) throw missing();
		return [...files, ...(await readAliases())].map(({ path, text }) => ({ path, bytes: Buffer.from(text) }));
	}

	async #keepNewest(environmentId: string, flavour: Flavour, snapshot: Snapshot): Promise<void> {
		const { signedBy } = this.packer;
		const { lineage, revision, token, digest } = snapshot;
		const key = signedBy === undefined ? '' : `.${signedBy}`;
		const label = `r${revision}-${lineage}-${token}-${digest}.${flavour}${key}`;
		const written = await this.folder.write(environmentId, label, snapshot.bytes);
		for (const other of written ? await this.folder.labels(environmentId) : []) {
			if (other !== label && readLabel(other)?.flavour === flavour) await this.folder.drop(environmentId, other);
		}
		// If the environment was deleted in the meantime, its data must not stay on disk.
		const counters = await this.store.counters(environmentId).catch(() => null);
		if (counters === null) await this.forget(environmentId);
	}

	async #stored(environmentId: string, flavour: Flavour): Promise<StoredSnapshot | null> {
		const stored = (await this.folder.labels(environmentId)).flatMap((label) => readLabel(label) ?? []);
		return stored
			.filter((snapshot) => snapshot.flavour === flavour && snapshot.signedBy === this.packer.signedBy)
			.reduce<StoredSnapshot | null>(
				(newest, next) => (newest && newest.revision > next.revision ? newest : next),
				null,
			);
	}

	/**
	 * Deletes stored snapshots from a different lineage. If the database lacks the revision of a snapshot in this
	 * lineage, revisions were lost. Then ends the lineage and returns true.
	 */
	async #dropOthers(environmentId: string, lineage: string): Promise<boolean> {
		let isCut = false;
		for (const label of await this.folder.labels(environmentId)) {
			const snapshot = readLabel(label);
			if (snapshot?.lineage === lineage) {
				const { revision, token } = snapshot;
				if ((await this.store.tokenAt(environmentId, revision)) === token) continue;
				isCut = (await this.store.endLineage(lineage, environmentId, revision)) || isCut;
			}
			await this.folder.drop(environmentId, label);
		}
		return isCut;
	}
}

/** Parses a label; `null` for labels from earlier versions. */
function readLabel(label: string): StoredSnapshot | null {
	const [, revision, lineage, token, digest, flavour, signedBy] = labelForm.exec(label) ?? [];
	if (!(revision && lineage && token && digest && flavour)) return null;
	return { label, lineage, revision: Number(revision), token, digest, pending: null, flavour, signedBy };
}
