/** What the documents say holds: the README's example runs as it is printed there, and what they name exists. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { fenced } from '../support/fenced.js';
import { root } from '../support/root.js';
import { facts, startStack } from '../support/stack.js';
import { removeFolder } from '../support/temporary.js';

test('the example of the README prints what the README says', async (t) => {
	const readme = read('README.md');
	const example = fenced(readme, 'js').find((block) => block.includes("from 'permitio'")) ?? '';
	t.not(example, '', 'the README has no example with the SDK');
	const promised = fenced(readme, 'text').find((block) => block.startsWith('may Ann')) ?? '';
	t.not(promised, '', 'the README does not say what its example prints');

	const stack = await startStack();
	t.teardown(stack.stop);
	// Inside the package, where the SDK resolves as it does for a reader who tries it here.
	const folder = mkdtempSync(join(root, 'dist', 'readme-'));
	t.teardown(() => removeFolder(folder));
	writeFileSync(join(folder, 'example.mjs'), example);
	const { stdout } = await promisify(execFile)(process.execPath, ['example.mjs'], {
		cwd: folder,
		timeout: 90_000,
		env: {
			PERMIT_API_KEY: stack.keys.environment,
			PERMIT_API_URL: stack.api.listening.url,
			PERMIT_PDP_URL: stack.decisionPoint.listening.url,
		},
	});
	t.is(stdout, promised);

	// The example took the role away in the end.
	const role = { user: 'ann', role: 'reader', tenant: 'acme' };
	const { revision } = await stack.environment.post(`${facts}/role_assignments`, role);
	await stack.reached(revision);
	const { body: scope } = await stack.environment.get<{ environment_id: string }>('/v2/api-key/scope');
	const env = {
		PATH: process.env['PATH'] ?? '',
		PERMIT_API_KEY: stack.keys.environment,
		PERMIT_API_URL: stack.api.listening.url,
		ENVIRONMENT_ID: scope.environment_id,
	};
	mkdirSync(join(folder, 'bundles'));
	for (const commands of fenced(readme, 'sh').filter((block) => block.includes(' bundles/dev.tar.gz'))) {
		const here = commands.replaceAll('http://localhost:8000', stack.api.listening.url);
		await promisify(execFile)('bash', ['-ec', here], { cwd: folder, env });
	}
	const inProcess = fenced(readme, 'js').filter((block) => block.includes("from '@regolith/engine'"));
	t.is(inProcess.length, 3, 'an example for each way to load the engine');
	for (const [index, text] of inProcess.entries()) {
		const file = `in-process-${index}.mjs`;
		writeFileSync(join(folder, file), text);
		const ran = await promisify(execFile)(process.execPath, [file], { cwd: folder, env, timeout: 90_000 });
		t.is(ran.stdout, 'may Ann read? true\n');
	}
});

for (const document of documents()) {
	test(`the links of ${document} lead somewhere`, (t) => {
		const broken = relativeLinks(read(document)).filter((link) => !leads(document, link));
		t.deepEqual(broken, []);
	});
}

test('the README lists the settings that .env.example documents, with the same defaults', (t) => {
	const documented = [...read('.env.example').matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, name = '', value = '']) => ({
		name,
		value,
	}));
	const [, section = ''] = read('README.md').split('\n## Configuration\n');
	const rows = [...(section.split('\n## ')[0] ?? '').matchAll(/^\| (`.*?) \| (.*?) \|/gm)];
	const named = rows.flatMap(([, names = '', defaults = '']) => inlineCodes(names).map((name) => ({ name, defaults })));
	t.deepEqual(named.map(({ name }) => name).sort(), documented.map(({ name }) => name).sort());
	for (const { name, value } of documented.filter((setting) => setting.value !== '')) {
		const defaults = named.find((row) => row.name === name)?.defaults ?? '';
		t.true(
			inlineCodes(defaults).includes(value),
			`${name} is \`${value}\` by default, and the README says ${defaults}`,
		);
	}
});

test('every code of a denial is explained where an explained decision points to', (t) => {
	const codes = [...read('policy/regolith/rbac/rbac.rego').matchAll(/(?:denial :=|else :=) "(\w+)"/g)].map(
		([, code]) => code,
	);
	t.true(codes.length >= 7);
	const headings = new Set(headingAnchors(read('docs/denial-codes.md')));
	t.deepEqual(
		codes.filter((code) => !headings.has(code ?? '')),
		[],
	);
});

function read(path: string): string {
	return readFileSync(join(root, path), 'utf8');
}

function documents(): readonly string[] {
	const inDocs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).map((path) =>
		join('docs', path),
	);
	const all = [
		'README.md',
		'CONTRIBUTING.md',
		'CHANGELOG.md',
		'bundles/README.md',
		'packages/engine/README.md',
		...inDocs,
	];
	return all.filter((path) => path.endsWith('.md')).sort();
}

/** Where links lead, those to other sites left out. */
function relativeLinks(markdown: string): readonly string[] {
	const links = [...markdown.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
	return links.filter((link) => !/^[a-z]+:/.test(link));
}

function leads(document: string, link: string): boolean {
	const [path = '', anchor] = link.split('#');
	const target = path === '' ? join(root, document) : resolve(root, dirname(document), path);
	if (!existsSync(target) || relative(root, target).startsWith('..')) return false;
	return anchor === undefined || headingAnchors(readFileSync(target, 'utf8')).includes(anchor);
}

/** The anchors of a document's headings. */
function headingAnchors(markdown: string): readonly string[] {
	return [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
		heading
			.toLowerCase()
			.replaceAll(/[^\w\- ]/g, '')
			.replaceAll(' ', '-'),
	);
}

/** What stands in backquotes. */
function inlineCodes(text: string): readonly string[] {
	return [...text.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
}
