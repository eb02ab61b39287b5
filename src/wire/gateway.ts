/** What gateways ask decision points, each in its own words: nginx, Kong and Trino. */

import { z } from 'zod';
import { boundedArray } from './bounded.js';
import { maxUrlLength } from './check.js';

/** Which status nginx is answered for a denial; 200 unless it is given, as everybody else is. */
export const NginxQuery = z.object({
	deny_status: z
		.enum(['401', '403'], { error: 'must be 401 or 403' })
		.transform((status) => (status === '401' ? 401 : 403))
		.optional(),
});

/** What the OPA plugin of Kong asks: who requests what. The rest of what it sends is ignored. */
export const KongQuery = z.object({
	input: z.object({
		request: z.object({ http: z.object({ method: z.string().max(64), path: z.string().max(maxUrlLength) }) }),
		consumer: z.object({ username: z.string().nullish() }).nullish(),
	}),
});

/** The answer to Kong. */
export const KongAnswer = z.object({ result: z.boolean() });

/** The operations that Trino asks about. */
const TrinoOperation = z.enum([
	'AccessCatalog',
	'AddColumn',
	'AlterColumn',
	'CreateCatalog',
	'CreateFunction',
	'CreateMaterializedView',
	'CreateSchema',
	'CreateTable',
	'CreateView',
	'CreateViewWithExecuteFunction',
	'CreateViewWithSelectFromColumns',
	'DeleteFromTable',
	'DropCatalog',
	'DropColumn',
	'DropFunction',
	'DropMaterializedView',
	'DropSchema',
	'DropTable',
	'DropView',
	'ExecuteFunction',
	'ExecuteProcedure',
	'ExecuteQuery',
	'ExecuteTableProcedure',
	'FilterCatalogs',
	'FilterColumns',
	'FilterFunctions',
	'FilterSchemas',
	'FilterTables',
	'FilterViewQueryOwnedBy',
	'GetColumnMask',
	'GetRowFilters',
	'ImpersonateUser',
	'InsertIntoTable',
	'KillQueryOwnedBy',
	'ReadSystemInformation',
	'RefreshMaterializedView',
	'RenameColumn',
	'RenameMaterializedView',
	'RenameSchema',
	'RenameTable',
	'RenameView',
	'SelectFromColumns',
	'SetCatalogSessionProperty',
	'SetMaterializedViewProperties',
	'SetSchemaAuthorization',
	'SetSystemSessionProperty',
	'SetTableAuthorization',
	'SetTableComment',
	'SetTableProperties',
	'SetViewAuthorization',
	'SetViewComment',
	'ShowColumns',
	'ShowCreateFunction',
	'ShowCreateSchema',
	'ShowCreateTable',
	'ShowFunctions',
	'ShowSchemas',
	'ShowTables',
	'TruncateTable',
	'UpdateTableColumns',
	'ViewQueryOwnedBy',
	'WriteSystemInformation',
]);

const schemaName = { catalogName: z.string(), schemaName: z.string() };
const tableName = { ...schemaName, tableName: z.string() };

/** A thing of Trino's: one member says what kind it is. A kind that is not known is denied. */
const TrinoResource = z
	.object({
		catalog: z.object({ name: z.string() }),
		schema: z.object(schemaName),
		table: z.object({ ...tableName, columns: boundedArray(z.string()).nullish() }),
		column: z.object({ ...tableName, columnName: z.string() }),
		function: z.object({
			functionName: z.string(),
			catalogName: z.string().nullish(),
			schemaName: z.string().nullish(),
			schema: z.object(schemaName).nullish(),
		}),
		user: z.object({}),
		systemSessionProperty: z.object({}),
		catalogSessionProperty: z.object({}),
	})
	.partial()
	.refine((given) => Object.keys(given).length <= 1, 'must be one thing');

/** A thing of Trino's. */
export type TrinoResource = z.output<typeof TrinoResource>;

/** What Trino's OPA plugin asks. The rest of what it sends is ignored, such as the groups of its user. */
export const TrinoQuery = z.object({
	input: z.object({
		context: z.object({ identity: z.object({ user: z.string() }) }),
		action: z.object({
			operation: TrinoOperation,
			resource: TrinoResource.nullish(),
			filterResources: boundedArray(TrinoResource).nullish(),
		}),
	}),
});

/** What Trino asks, after validation. */
export type TrinoQuery = z.output<typeof TrinoQuery>;

/** Whether the operation is allowed, or the indexes of those of many things that it is allowed on. */
export const TrinoAnswer = z.object({ result: z.union([z.boolean(), z.array(z.int())]) });

/** The filters of a table's rows, all of which apply. */
export const TrinoRowFilters = z.object({ result: z.array(z.object({ expression: z.string() })) });

/** The masks of columns, by their indexes in the request. */
export const TrinoColumnMasks = z.object({
	result: z.array(
		z.object({
			index: z.int(),
			viewExpression: z.object({ expression: z.string(), identity: z.string().optional() }),
		}),
	),
});
