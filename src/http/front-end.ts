import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { notFound } from '../failure.js';
import { Raw } from './endpoint.js';

/** Serves what set-up bundles for browsers (setup/console.mjs). Files are read at their first use and kept. */
export interface FrontEnd {
	/** What a page loads. */
	page(name: string): Promise<PageFiles>;
	/** A file that a page loads, by its name. Never changes, because its name tells its content. Throws `not_found`. */
	asset(name: string, accepted: string | undefined): Promise<Raw>;
	/** A script that pages of other sites load, by a name that stays. */
	script(name: 'elements.js', accepted: string | undefined): Promise<Raw>;
}

const PageFiles = z.object({ script: z.string(), style: z.string(), chunks: z.array(z.string()) });
/** The names of the files that a page loads; `chunks` are those that it loads when it needs them. */
export type PageFiles = z.output<typeof PageFiles>;

const Pages = z.record(z.string(), PageFiles);

/** `dist/console`, as seen from this file where it was compiled to, and from the program that it is bundled into. */
const builtFolders = ['../../console/', '../console/'].map((path) => fileURLToPath(new URL(path, import.meta.url)));

/** The folder that holds the bundles. Another one may have that name: the sources of the pages are compiled too. */
export function findBuiltFolder(): string {
	const [first = ''] = builtFolders;
	return builtFolders.find((folder) => existsSync(join(folder, 'pages.json'))) ?? first;
}

const types: Readonly<Record<string, string>> = {
	js: 'text/javascript; charset=utf-8',
	css: 'text/css; charset=utf-8',
};

/** The bundles in a folder: by default those of this package. */
export function openFrontEnd(folder = findBuiltFolder()): FrontEnd {
	const kept = new Map<string, Promise<Buffer>>();
	const read = (path: string) => {
		const reading = kept.get(path) ?? readFile(join(folder, path));
		kept.set(path, reading);
		// A file that could not be read may be there later.
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
				// Pages of any site may load it, those that isolate themselves included: it holds no secret.
				'cross-origin-resource-policy': 'cross-origin',
			}),
	};
}

/** The encodings that files are kept in, the best first. */
const encodings = [
	{ name: 'br', ending: '.br' },
	{ name: 'gzip', ending: '.gz' },
] as const;

/** The best of them that a client names in `Accept-Encoding`, and does not refuse by `q=0`. */
function chooseEncoding(accepted = ''): (typeof encodings)[number] | undefined {
	const named = accepted.toLowerCase().split(',');
	return encodings.find(({ name }) =>
		named.some((part) => {
			const [coding = '', ...parameters] = part.split(';').map((text) => text.trim());
			return coding === name && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
		}),
	);
}
