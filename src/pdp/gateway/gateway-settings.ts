/** Gateway settings in files written by operators. */

import { readFile } from 'node:fs/promises';
import { RE2JS } from 're2js';
import { parse } from 'yaml';
import { z } from 'zod';
import { type Config, ConfigError } from '../../config.js';
import { errorMessage } from '../../failure.js';

/** A Kong route. Maps a path to a resource type if the expression matches the start of the path. */
export interface KongRoute {
	readonly path: RE2JS;
	/** Resource type, or the number of the capturing group that contains it. */
	readonly resource: string | number;
}

/** A row filter. Applies to users who may perform `action` on the table. */
interface RowFilter {
	readonly action: string;
	readonly expression: string;
}

/** A column mask. Applies to users who may perform `action` on the table or the column. */
interface ColumnMask {
	readonly action: string;
	readonly expression: string;
	readonly identity: string | undefined;
}

/** Row filters and column masks for Trino, keyed by the table's resource type. */
export interface TrinoRules {
	readonly rowFilters: ReadonlyMap<string, readonly RowFilter[]>;
	/** Column masks, keyed by table and column. The first mask that applies wins. */
	readonly columnMasks: ReadonlyMap<string, ReadonlyMap<string, readonly ColumnMask[]>>;
}

export interface GatewaySettings {
	/** Kong routes in order; null if Kong is not served. */
	readonly kongRoutes: readonly KongRoute[] | null;
	readonly trino: TrinoRules;
	/** True if Trino needs no key. */
	readonly openTrino: boolean;
}

const usualRoutes = '/config/kong_routes.json';
const usualRules = '/app/config/trino-authz.yaml';

/** Settings without any gateway. */
export const noGateways: GatewaySettings = {
	kongRoutes: null,
	trino: { rowFilters: new Map(), columnMasks: new Map() },
	openTrino: false,
};

/** Reads the settings files. Rejects with `ConfigError` if a file is unreadable, invalid, or required but missing. */
export async function readGatewaySettings(files: Config['gateways']): Promise<GatewaySettings> {
	return {
		kongRoutes: files.kong ? await kongRoutes(files.kong_routes ?? usualRoutes) : null,
		trino: await trinoRules(files.trino_rules),
		openTrino: files.open_trino,
	};
}

const maxRoutes = 10_000;
const Routes = z.array(z.tuple([z.string(), z.union([z.string().min(1), z.int().min(0)])])).max(maxRoutes);

async function kongRoutes(path: string): Promise<readonly KongRoute[]> {
	const setting = 'PDP_KONG_ROUTES_PATH';
	const text = await contents(setting, path);
	if (text === null) throw new ConfigError(`${setting}: the file with Kong's routes, \`${path}\`, does not exist`);
	return understood(setting, path, Routes, () => JSON.parse(text) as unknown).map(([source, resource], index) => {
		try {
			const expression = RE2JS.compile(source);
			const groups = expression.groupCount();
			if (typeof resource === 'string' || resource <= groups) return { path: expression, resource };
			throw new Error(`group \`${resource}\` does not exist (number of capturing groups in the expression: ${groups})`);
		} catch (error) {
			throw new ConfigError(`${setting}: invalid expression at index ${index} in \`${path}\`: ${errorMessage(error)}`);
		}
	});
}

const Rules = z.strictObject({
	rowFilters: z.record(z.string(), z.array(z.strictObject({ action: z.string(), expression: z.string() }))).nullish(),
	columnMasking: z
		.record(
			z.string(),
			z.strictObject({
				action: z.string().default('AddColumnMask'),
				columns: z.array(
					z.strictObject({
						column_name: z.string(),
						view_expression: z.string(),
						identity: z.string().nullish(),
						action: z.string().nullish(),
					}),
				),
			}),
		)
		.nullish(),
});

/** If the file is missing, returns no rules; throws if its path was configured. */
async function trinoRules(given: string | null): Promise<TrinoRules> {
	const setting = 'PDP_TRINO_AUTHZ_CONFIG_PATH';
	const path = given ?? usualRules;
	const text = await contents(setting, path);
	if (text === null && given !== null) throw new ConfigError(`${setting}: the file \`${path}\` does not exist`);
	if (text === null) return noGateways.trino;
	const rules = understood(setting, path, Rules, () => (parse(text) ?? {}) as unknown);
	const columnMasks = Object.entries(rules.columnMasking ?? {}).map(([table, { action, columns }]) => {
		const byColumn = new Map<string, ColumnMask[]>();
		for (const { column_name, view_expression, identity, action: own } of columns) {
			const masks = byColumn.get(column_name) ?? [];
			masks.push({ action: own ?? action, expression: view_expression, identity: identity ?? undefined });
			byColumn.set(column_name, masks);
		}
		return [table, byColumn] as const;
	});
	return { rowFilters: new Map(Object.entries(rules.rowFilters ?? {})), columnMasks: new Map(columnMasks) };
}

/** Returns a file's text; null if it does not exist. */
async function contents(setting: string, path: string): Promise<string | null> {
	try {
		return await readFile(path, 'utf8');
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
		throw new ConfigError(`${setting}: \`${path}\` cannot be read: ${errorMessage(error)}`, { cause: error });
	}
}

function understood<T>(setting: string, path: string, schema: z.ZodType<T>, read: () => unknown): T {
	try {
		const parsed = schema.safeParse(read());
		if (parsed.success) return parsed.data;
		throw new Error(z.prettifyError(parsed.error));
	} catch (error) {
		throw new ConfigError(`${setting}: \`${path}\` has an invalid format: ${errorMessage(error)}`, { cause: error });
	}
}
