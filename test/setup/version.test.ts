// @alone

import { join } from 'node:path';
import test from 'ava';
import { root } from '../support/root.js';

type Version = readonly [number, number, number];

interface VersionModule {
	parseVersion(text: string): Version | undefined;
	compareVersions(a: Version, b: Version): number;
	isCompatible(found: Version, wanted: Version): boolean;
}

// Setup runs before compilation, so it is plain JavaScript, and is imported from its source folder.
const { parseVersion, compareVersions, isCompatible }: VersionModule = await import(join(root, 'setup/version.mjs'));
const { nodeProblem }: { nodeProblem(version: string): string | null } = await import(join(root, 'setup/node.mjs'));

const texts: readonly (readonly [string, Version | undefined])[] = [
	['1.22.0', [1, 22, 0]],
	['v1.22.3', [1, 22, 3]],
	['go1.26.8', [1, 26, 8]],
	['go1.27rc1', [1, 27, 0]],
	['1.4.2-dev', [1, 4, 2]],
	['1.27', [1, 27, 0]],
	['devel', undefined],
	['', undefined],
];

for (const [text, version] of texts) {
	test(`\`${text}\` is ${version ? `version ${version.join('.')}` : 'no version'}`, (t) =>
		t.deepEqual(parseVersion(text), version));
}

test('versions are ordered by number, not by text', (t) => {
	const sorted: Version[] = [
		[0, 99, 99],
		[1, 4, 2],
		[1, 9, 0],
		[1, 22, 0],
		[1, 22, 1],
		[2, 0, 0],
	];
	t.deepEqual([...sorted].reverse().sort(compareVersions), sorted);
	t.is(compareVersions([1, 22, 0], [1, 22, 0]), 0);
});

const compatibility: readonly (readonly [Version, boolean])[] = [
	[[1, 22, 0], true],
	[[1, 23, 0], true],
	[[1, 22, 9], true],
	[[1, 21, 9], false],
	[[2, 22, 0], false],
	[[0, 70, 0], false],
];

for (const [found, expected] of compatibility) {
	test(`${found.join('.')} ${expected ? 'can' : 'cannot'} replace 1.22.1`, (t) => {
		t.is(isCompatible(found, [1, 22, 1]), expected);
	});
}

for (const version of ['20.19.0', '20.20.2', '22.0.0', '26.1.0', '100.0.0']) {
	test(`Node.js ${version} is accepted`, (t) => t.is(nodeProblem(version), null));
}

for (const version of ['20.18.3', '18.20.4', '8.17.0']) {
	test(`Node.js ${version} is rejected, and the message contains its version`, (t) => {
		const problem = nodeProblem(version) ?? '';
		t.true(problem.includes('20.19') && problem.includes(version), problem);
	});
}
