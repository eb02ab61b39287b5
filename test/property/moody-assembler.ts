import { EventEmitter, once } from 'node:events';
import { type BrokenObject, brokenTitle, type Schema, withoutBroken } from '../../compiler/index.js';
import { type Assembler, createAssembler } from '../../src/publish/assemble.js';

/**
 * How a compiler behaves: as the real one, as one that does not end until it behaves otherwise, as one that fails and
 * blames nothing, or as one that fails because of one object, wherever a schema has it.
 */
export type Mood = 'works' | 'hangs' | 'fails' | 'blames';

/** A compiler whose behaviour a test decides while it is in use. */
export class MoodyAssembler {
	#mood: Mood = 'works';
	readonly #events = new EventEmitter<{ changed: [] }>();

	get mood(): Mood {
		return this.#mood;
	}

	set(mood: Mood): void {
		this.#mood = mood;
		this.#events.emit('changed');
	}

	/** Makes the compiler of an API. */
	readonly make: typeof createAssembler = (...made): Assembler => {
		const real = createAssembler(...made);
		return {
			...real,
			assemble: async (schema) => {
				while (this.#mood === 'hangs') await once(this.#events, 'changed');
				if (this.#mood === 'fails') return { digest: null, failure: { message: 'out of mood', details: [] } };
				const broken = this.#mood === 'blames' ? blamed(schema) : [];
				const assembled = await real.assemble(withoutBroken(schema, broken));
				if (assembled.digest === null) return assembled;
				const left_out = broken.map((object) => ({ object: brokenTitle(object), message: 'out of mood' }));
				return { ...assembled, left_out: [...assembled.left_out, ...left_out] };
			},
		};
	};
}

/**
 * The user set with the least key that a rule names, or else the derivations of the first role that has any. The rules of
 * a schema are in no order.
 */
export function blamed(schema: Schema): readonly BrokenObject[] {
	const [key] = schema.set_rules.map(({ user_set }) => user_set).sort();
	if (key !== undefined) return [{ kind: 'condition_set', type: 'userset', key }];
	for (const { key: resource, roles } of schema.resources) {
		const role = roles.find(({ derivations }) => derivations.length > 0);
		if (role !== undefined) return [{ kind: 'role_derivations', resource, role: role.key }];
	}
	return [];
}
