import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { notFound } from '../failure.js';
import { Raw } from './endpoint.js';

/** Serves the browser bundles from setup (setup/console.mjs). Files are read on first use and cached. */
export interface FrontEnd {
	/** Returns a page's files. */
	page(name: string): Promise<PageFiles>;
	/**
	 * Returns a page asset by name. Assets never change, because the name contains a content hash. Throws `not_found`.
	 */
	asset(name: string, accepted: string | undefined): Promise<Raw>;
	/** Returns a script for pages on other sites. Its name does not change. */
	script(name: 'elements.js', accepted: string | undefined): Promise<Raw>;
}

const PageFiles = z.object({ script: z.string(), style: z.string(), chunks: z.array(z.string()) });
/** Files for a page. `chunks` are loaded on demand. */
export type PageFiles = z.output<typeof PageFiles>;

const Pages = z.record(z.string(), PageFiles);

/** `dist/console`, relative to this compiled file and to the bundled program. */
const builtFolders = ['../../console/', '../console/'].map((path) => fileURLToPath(new URL(path, import.meta.url)));

/**
 * Returns the folder with the bundles. Looks for `pages.json`, because the compiled page sources are in a folder with
 * the same name.
 */
export function findBuiltFolder(): string {
	const [first = ''] = builtFolders;
	return builtFolders.find((folder) => existsSync(join(folder, 'pages.json'))) ?? first;
}

const types: Readonly<Record<string, string>> = {
	js: 'text/javascript; charset=utf-8',
	css: 'text/css; charset=utf-8',
};

/** Opens a folder with bundles; default: the folder in this package. */
export function openFrontEnd(folder = findBuiltFolder()): FrontEnd {
	const kept = new Map<string, Promise<Buffer>>();
	const read = (path: string) => {
		const reading = kept.get(path) ?? readFile(join(folder, path));
		kept.set(path, reading);
		// After a failed read, remove the entry so the next request tries again.
		reading.catch(() => kept.delete(path));
		return reading;
	};
	const pages = async () => Pages.parse(JSON.parse((await read('pages.json')).toString()));
	const send = async (path: string, accepted: string | undefined, caching: Readonly<Record<string, string>>) => {
		const encoding = chooseEncoding(accepted);
		const headers = {
			'content-type': types[path.split('.').at(-1) ?? ''] ?? 'application/octet-stream',
			'x-content-type-options': 'nosniff',
			vary: 'accept-encoding',
			...caching,
			...(encoding && { 'content-encoding': encoding.name }),
		};
		return new Raw(200, headers, await read(`${path}${encoding?.ending ?? ''}`));
	};
	return {
		page: async (name) => {
			const files = (await pages())[name];
			if (files === undefined) throw new Error(`no page \`${name}\` was bundled`);
			return files;
		},
		asset: async (name, accepted) => {
			const names = Object.values(await pages()).flatMap(({ script, style, chunks }) => [script, style, ...chunks]);
			if (!names.includes(name)) throw notFound('Asset', name);
			return send(`assets/${name}`, accepted, { 'cache-control': 'public, max-age=31536000, immutable' });
		},
		script: (name, accepted) =>
			send(name, accepted, {
				'cache-control': 'public, max-age=3600',
				// Pages on any site may load this file, including isolated pages, because it contains no secret.
				'cross-origin-resource-policy': 'cross-origin',
			}),
	};
}

/** Encodings of the stored files. The best encoding is first. */
const encodings = [
	{ name: 'br', ending: '.br' },
	{ name: 'gzip', ending: '.gz' },
] as const;

/** Returns the best encoding that `Accept-Encoding` names and does not reject with `q=0`. */
function chooseEncoding(accepted = ''): (typeof encodings)[number] | undefined {
	const named = accepted.toLowerCase().split(',');
	return encodings.find(({ name }) =>
		named.some((part) => {
			const [coding = '', ...parameters] = part.split(';').map((text) => text.trim());
			return coding === name && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
		}),
	);
}
