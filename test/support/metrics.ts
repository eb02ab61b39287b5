import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './root.js';

/** A sample from `/metrics`. */
export interface Measured {
	readonly name: string;
	readonly labels: Readonly<Record<string, string>>;
	readonly value: number;
}

/** Parsed `/metrics` response. */
export interface Scrape {
	/** Metric family types by name. */
	readonly types: ReadonlyMap<string, string>;
	readonly numbers: readonly Measured[];
	/** Returns the sum over the samples with this name and these labels; undefined if there are no such samples. */
	sum(name: string, labels?: Readonly<Record<string, string>>): number | undefined;
}

/** Parses the Prometheus text format. Throws on an invalid line. */
export function readScrape(text: string): Scrape {
	const types = new Map<string, string>();
	const numbers: Measured[] = [];
	for (const line of text.split('\n')) {
		const [, family, type] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
		if (family !== undefined && type !== undefined) types.set(family, type);
		if (line === '' || line.startsWith('#')) continue;
		const [, name, labels = '', value] = /^([a-z_]\w*)(?:\{(.*)\})? (\S+)$/i.exec(line) ?? [];
		if (name === undefined) throw new Error(`invalid sample: ${line}`);
		const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key = '', worth = '']) => [key, worth]);
		numbers.push({ name, labels: Object.fromEntries(pairs), value: Number(value) });
	}
	return {
		types,
		numbers,
		sum: (name, labels = {}) => {
			const found = numbers.filter(
				(one) => one.name === name && Object.entries(labels).every(([key, value]) => one.labels[key] === value),
			);
			return found.length === 0 ? undefined : found.reduce((total, { value }) => total + value, 0);
		},
	};
}

/** Table row in docs/operate/operation.md. */
export interface DocumentedFamily {
	readonly type: string;
	readonly labels: readonly string[];
}

/** Returns the Regolith metrics in docs/operate/operation.md. */
export function documentedFamilies(): ReadonlyMap<string, DocumentedFamily> {
	const page = readFileSync(join(root, 'docs/operate/operation.md'), 'utf8');
	const rows = [...page.matchAll(/^\| `(regolith_\w+)` \| (\w+) \|([^|]*)\|/gm)];
	return new Map(
		rows.map(([, name = '', type = '', labels = '']) => [
			name,
			{ type, labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label = '']) => label) },
		]),
	);
}

/** Returns the Regolith metrics in a scrape that are missing on the page, or listed with a different type or labels. */
export function undocumented({ types, numbers }: Scrape): readonly string[] {
	const documented = documentedFamilies();
	const ours = [...types].filter(([name]) => name.startsWith('regolith_'));
	return ours.flatMap(([name, type]) => {
		const row = documented.get(name);
		if (row?.type !== type) return [`${name}: ${type}`];
		const parts = type === 'histogram' ? ['_bucket', '_sum', '_count'].map((part) => name + part) : [name];
		const labels = numbers
			.filter((number) => parts.includes(number.name))
			.flatMap((number) => Object.keys(number.labels));
		const used = [...new Set(labels)].filter((label) => label !== 'le').sort();
		const named = [...row.labels].sort();
		return used.length > 0 && used.join() !== named.join() ? [`${name}: labels ${used.join()}`] : [];
	});
}
