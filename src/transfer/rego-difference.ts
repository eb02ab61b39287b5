import { type CompiledPolicy, compilePolicy, type Diagnostic, type Schema } from '../../compiler/index.js';

/** A generated file with a difference. `before` or `after` is `null` if the file does not exist there. */
export interface DifferentFile {
	readonly path: string;
	readonly before: string | null;
	readonly after: string | null;
}

/** Rego difference between two schemas. */
export interface RegoDifference {
	/** The files with differences, ordered by path. Empty if a schema does not compile. */
	readonly files: readonly DifferentFile[];
	/** Compiler diagnostics for the later schema. */
	readonly diagnostics: readonly Diagnostic[];
	/** The reason why the schemas were not compared; `null` if they were compared. */
	readonly failure: string | null;
}

/** Compares the Rego compiled from two schemas. */
export function regoDifference(before: Schema, after: Schema): RegoDifference {
	const compiled = compilePolicy(after);
	const { diagnostics } = compiled;
	if (compiled.policy === null) return { files: [], diagnostics, failure: 'the drafted schema cannot be compiled' };
	if (before === after) return { files: [], diagnostics, failure: null };
	const present = compilePolicy(before);
	if (present.policy === null) return { files: [], diagnostics, failure: 'the current schema cannot be compiled' };
	return { files: differentFiles(present.policy, compiled.policy), diagnostics, failure: null };
}

type Policy = NonNullable<CompiledPolicy['policy']>;

function differentFiles(before: Policy, after: Policy): readonly DifferentFile[] {
	const [old, young] = [textsByPath(before), textsByPath(after)];
	const paths = [...new Set([...old.keys(), ...young.keys()])].sort();
	return paths.flatMap((path) => {
		const file = { path, before: old.get(path) ?? null, after: young.get(path) ?? null };
		return file.before === file.after ? [] : [file];
	});
}

function textsByPath(files: Policy): ReadonlyMap<string, string> {
	return new Map(files.map(({ path, text }) => [path, text]));
}
