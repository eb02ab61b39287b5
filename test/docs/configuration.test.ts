import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { z } from 'zod';
import { settingTopics } from '../../src/settings.js';
import { root } from '../support/root.js';

/** `.env.example` and `docs/operate/configuration.md` are generated from `src/settings.ts`: `UPDATE=1` writes both. */

/** A setting, as its schema describes it. */
const Described = z.object({
	description: z.string().regex(/\.$/),
	default: z.union([z.string(), z.number()]).default(''),
	unset: z.string().optional(),
	sample: z.string().optional(),
	page: z.string().optional(),
	type: z.string().optional(),
	enum: z.array(z.string()).optional(),
	minimum: z.number().optional(),
	exclusiveMinimum: z.number().optional(),
	maximum: z.number().optional(),
});
type Described = z.output<typeof Described>;

const topics = Object.entries(settingTopics).map(([topic, settings]) => ({
	topic,
	settings: Object.entries(settings).map(([name, schema]) => ({
		name,
		...Described.parse(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })),
	})),
}));

/** Returns the allowed values of a number or an enumeration; an empty string for other types. */
function allowedValues({ type, enum: values, minimum, exclusiveMinimum, maximum }: Described): string {
	if (values !== undefined) return values.map((value) => `\`${value}\``).join(', ');
	if (type !== 'number' && type !== 'integer') return '';
	const words: string[] = [type];
	if (exclusiveMinimum !== undefined) words.push(`greater than ${exclusiveMinimum}`);
	if (minimum !== undefined) words.push(`at least ${minimum}`);
	// Zod gives unbounded integers the largest safe integer as their maximum.
	if (maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER) words.push(`at most ${maximum}`);
	return words.join(', ');
}

const page = `# Configuration

Regolith reads its settings from environment variables when it starts. All are optional. An empty variable counts as unset. If a value is invalid, the start fails with a message that contains the variable. [.env.example](../../.env.example) has the same settings in a file to copy.

This page is generated from \`src/settings.ts\`: \`UPDATE=1 npm test -- test/docs/configuration.test.ts\`.
${topics
	.map(({ topic, settings }) => {
		const rows = settings.map((setting) => {
			const fallback = setting.default === '' ? (setting.unset ?? '') : `\`${setting.default}\``;
			const link = setting.page === undefined ? '' : ` [Details](../${setting.page})`;
			const text = setting.description.replaceAll('|', '\\|');
			return `| \`${setting.name}\` | ${fallback} | ${allowedValues(setting)} | ${text}${link} |`;
		});
		return `
## ${topic}

| Setting | Default | Values | Description |
|---|---|---|---|
${rows.join('\n')}
`;
	})
	.join('')}`;

/** Breaks a comment into lines of at most 120 characters. */
function comment(text: string): string {
	const lines = [''];
	for (const word of text.split(' ')) {
		const line = `${lines.at(-1)} ${word}`;
		if (line.length < 120) lines[lines.length - 1] = line;
		else lines.push(` ${word}`);
	}
	return lines.map((line) => `#${line}\n`).join('');
}

const example = `# Every setting of Regolith with its default. All are optional; an empty variable counts as unset.
# Copy this file to .env, change the values, and load them into the environment:
#   set -a; . ./.env; set +a; npm start
# Secrets belong in the environment or in .env (git-ignored), never on a command line.
# Generated from src/settings.ts: UPDATE=1 npm test -- test/docs/configuration.test.ts
${topics
	.map(({ topic, settings }) => {
		const entries = settings.map(({ name, description, unset, sample, page: details, default: value }) => {
			const words = [description, unset === undefined ? '' : `Unset: ${unset}.`];
			if (details !== undefined) words.push(`See docs/${details.split('#')[0]}.`);
			const shown = sample === undefined ? '' : `# ${name}=${sample}\n`;
			return `${comment(words.filter(Boolean).join(' '))}${shown}${name}=${value}\n`;
		});
		return `\n# --- ${topic} ${'-'.repeat(113 - topic.length)}\n${entries.join('')}`;
	})
	.join('')}`;

for (const [path, text] of [
	['docs/operate/configuration.md', page],
	['.env.example', example],
] as const) {
	test(`${path} is generated from the settings; \`UPDATE=1\` writes it`, (t) => {
		if (process.env['UPDATE'] === '1') writeFileSync(join(root, path), text);
		t.is(readFileSync(join(root, path), 'utf8'), text);
	});
}
