import { EventEmitter, once } from 'node:events';
import { type BrokenObject, brokenTitle, type Schema, withoutBroken } from '../../compiler/index.js';
import { type Assembler, createAssembler } from '../../src/publish/assemble.js';

/**
 * Behavior of the compiler. It works, hangs until the mood changes, fails without blaming an object, or blames an
 * object if the schema contains one that can be blamed.
 */
export type Mood = 'works' | 'hangs' | 'fails' | 'blames';

/** A compiler whose behavior a test switches at run time. */
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

	/** Creates the compiler for an API. */
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
 * Returns the user set with the smallest key in any rule, because rules have no order. If there are no rules, returns
 * the derivations of the first role with derivations.
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
