import { parseManifest, parsePatches, unpack } from '../bundle/bundle.js';
import type { Run } from '../pdp/engine/engine.js';
import { compileModule, type EngineAndIndex, loadSnapshot } from '../pdp/follow/load-snapshot.js';

/** An environment in this process, built from feed bundles. Bundles are trusted, because the API itself sends them. */
export class HeldEnvironment {
	#held: EngineAndIndex | undefined;

	constructor(private readonly run: Run) {}

	/** Held state. Throws if there is none. */
	get state(): EngineAndIndex {
		if (this.#held === undefined) throw new Error('nothing is held');
		return this.#held;
	}

	/** Applies a snapshot, or a step that continues the held state. Rejects if the bundle is invalid. */
	async take(bundle: Uint8Array): Promise<void> {
		const files = await unpack(bundle);
		const { kind } = parseManifest(files).metadata.regolith;
		if (kind === 'snapshot') {
			// Free the old state first so two states are never in memory at the same time.
			this.#held = undefined;
			this.#held = await loadSnapshot(files, this.run);
			return;
		}
		const { engine, facts } = this.state;
		const next = kind === 'policy' ? await engine.fork(await compileModule(files), this.run) : engine;
		const patches = parsePatches(files);
		await this.run(next.patching(patches));
		await this.run(facts.patching(patches));
		this.#held = { engine: next, facts };
	}
}
