import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { opaPath } from './opa.js';

/** Program behavior: like the real program, or with a specific failure in `build` or `test`. */
export type OpaMood =
	| 'real'
	| 'fails'
	| 'writes an invalid module'
	| 'is slow'
	| 'is newer and fails'
	| 'refuses the set bad'
	| 'hangs in tests'
	| 'fails in tests'
	| 'fails one test';

/** An `opa` program whose behavior a test switches at run time. */
export interface SwitchableOpa {
	readonly path: string;
	set(mood: OpaMood): void;
	/** Number of `opa test` runs. */
	tested(): number;
}

/** Writes the program to `folder`. The program runs the real `opa`, except while a failure is selected. */
export function switchableOpa(folder: string): SwitchableOpa {
	const path = join(folder, 'opa');
	const mood = join(folder, 'mood');
	writeFileSync(path, script(mood));
	chmodSync(path, 0o755);
	const set = (next: OpaMood) => writeFileSync(mood, next);
	set('real');
	const tests = `${mood}-tests`;
	return { path, set, tested: () => (existsSync(tests) ? readFileSync(tests, 'utf8').length : 0) };
}

function script(mood: string): string {
	const node = JSON.stringify(process.execPath);
	const invalid = join(import.meta.dirname, 'write-invalid-bundle.js');
	return `#!/bin/sh
mood=$(/bin/cat ${JSON.stringify(mood)})
if [ "$1" = "version" ] && [ "$mood" = "is newer and fails" ]; then echo "Version: 1.999.0"; exit 0; fi
if [ "$1" = "build" ]; then
	case "$mood" in
		fails | "is newer and fails") echo "1 error occurred: policy.rego:1: rego_parse_error: out of mood" >&2; exit 1 ;;
		"writes an invalid module") exec ${node} ${JSON.stringify(invalid)} "$@" ;;
		"is slow") /bin/sleep 6 ;;
		"refuses the set bad")
			if tar -tzf rego | grep -q user_sets/bad/; then
				echo "error: 1 error occurred: regolith/user_sets/bad/selects.rego:14: rego_type_error: out of mood" >&2
				exit 1
			fi ;;
	esac
fi
if [ "$1" = "test" ]; then
	printf x >> ${JSON.stringify(`${mood}-tests`)}
	case "$mood" in
		"hangs in tests") exec /bin/sleep 600 ;;
		"fails in tests") echo "1 error occurred: policy.rego:1: rego_parse_error: out of mood" >&2; exit 1 ;;
		"fails one test")
			echo '[{"package":"data.b","name":"test_good","location":{"file":"b_test.rego","row":2}},'
			echo '{"package":"data.c","name":"test_bad","location":{"file":"c_test.rego","row":3},"fail":true}]'
			exit 2 ;;
	esac
fi
exec ${JSON.stringify(opaPath)} "$@"
`;
}
