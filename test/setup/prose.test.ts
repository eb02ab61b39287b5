import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import test from 'ava';
import { root } from '../support/root.js';

/** Setup is plain JavaScript. It is not compiled, so it is imported from its source folder. */
async function findOddEnglish(file: string, source: string): Promise<readonly string[]> {
	const prose: { findOddEnglish(file: string, source: string): readonly string[] } = await import(
		join(root, 'setup/prose.mjs')
	);
	return prose.findOddEnglish(file, source);
}

/** Sentences, each with the words that a rule finds. */
const odd: readonly (readonly [sentence: string, found: string])[] = [
	['What was compiled is kept.', 'What'],
	['It answers. Whoever asks gets the key.', 'Whoever'],
	['How many retries there are, at most.', 'How many'],
	['Returns the size of what was read.', 'of what'],
	['A key, or another one.', 'another one'],
	['Drops those that are stale, and the one that is late.', 'those that'],
	['It has a thread of its own.', 'of its own'],
	['A policy stays as it is.', 'as it is'],
	['Reading goes on.', 'goes on'],
	['Secrets are encrypted anew.', 'anew'],
	['Meanwhile, the server waits.', 'Meanwhile'],
	['The name of the key of the owner of the rule of a user.', 'of the key of the owner of the rule of'],
];

/** Files with a sentence in each kind of prose. The sentence is on line 3, or on line 4 if the file wraps the text. */
const places = {
	'docs/a.md': (text: string) => `# Title\n\n- ${text}`,
	'src/a.ts': (text: string) => `/**\n * Returns a key.\n * ${text}\n */`,
	'setup/a.mjs': (text: string) => `let a;\n// A key.\n\t// ${text}\nlet b;`,
	'src/b.tsx': (text: string) => `z\n\t.string()\n\t.describe('${text}');`,
	'src/c.ts': (text: string) => `\n\n\tdescription: 'A key. ' +\n\t\t'${text}',`,
};

for (const [file, place] of Object.entries(places)) {
	test(`sentences that are hard to read are found in ${file}, with their line`, async (t) => {
		for (const [sentence, found] of odd) {
			const problems = await findOddEnglish(file, place(sentence));
			t.regex(problems[0] ?? '', new RegExp(`^${file}:${file === 'src/c.ts' ? 4 : 3}: .*: ${found}$`));
		}
	});
}

test('code, questions, titles, and names in backquotes are not treated as prose', async (t) => {
	const texts = {
		'docs/a.md':
			'# What runs\n\nWhat is a role?\n\n[What conditions mean](a.md), `anew`.\n\n```sh\nWhat runs # anew\n```\n',
		'src/a.ts': "/** The key of a user of a group of `name of a`. */\nconst anew = 'What was read';",
		'test/a.ts': "create({ description: 'What was read' });",
		'policy/a.rego': '# What runs',
	};
	for (const [file, text] of Object.entries(texts)) t.deepEqual(await findOddEnglish(file, text), [], file);
});

test('the project follows its English rules', (t) => {
	const { status, stderr } = spawnSync(process.execPath, ['setup/check-prose.mjs'], { cwd: root, encoding: 'utf8' });
	t.is(stderr, '');
	t.is(status, 0);
});
