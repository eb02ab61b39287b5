/** What gateways ask decision points, each in its own words: nginx, Kong and Trino. */

import { z } from 'zod';
import { boundedArray } from '../bounded.js';
import { maxUrlLength } from './check.js';

/** Which status nginx is answered for a denial; 200 unless it is given, as everybody else is. */
export const NginxQuery = z.object({
	deny_status: z
		.enum(['401', '403'], { error: 'must be 401 or 403' })
		.transform((status) => (status === '401' ? 401 : 403))
		.optional()
		.describe('The status of a denial; 200 when left out.'),
});

/** An object of a gateway, which may send members that are not read. */
function sent<S extends z.ZodRawShape>(shape: S) {
	return z.object(shape).meta({ additionalProperties: true });
}

/** What the OPA plugin of Kong asks: who requests what. The rest of what it sends is ignored. */
export const KongQuery = sent({
	input: sent({
		request: sent({
			http: sent({
				method: z.string().max(64).describe('The method; in lower case, it is the key of the action.'),
				path: z.string().max(maxUrlLength).describe('The path, for which the route table has the resource.'),
			}).describe('The request line.'),
		}).describe('The request that passes Kong.'),
		consumer: sent({ username: z.string().nullish().describe('The key of the user.') })
			.nullish()
			.describe('Who makes the request; without it, it is denied.'),
	}).describe('What the plugin sends; the rest of it is ignored.'),
}).meta({ id: 'KongQuery', description: 'What the OPA plugin of Kong asks.' });

/** The answer to Kong. */
export const KongAnswer = z
	.object({ result: z.boolean().describe('Whether the request may pass.') })
	.meta({ id: 'KongAnswer', description: 'The answer to Kong.' });

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

const catalogName = z.string().describe('The name of the catalog.');
const schemaName = { catalogName, schemaName: z.string().describe('The name of the schema.') };
const tableName = { ...schemaName, tableName: z.string().describe('The name of the table.') };

/** An object of a gateway that is not read at all. */
const ignored = sent({});

/** A thing of Trino's: one member says what kind it is. A kind that is not known is denied. */
const TrinoResource = z
	.object({
		catalog: sent({ name: catalogName }).describe('A catalog.'),
		schema: sent(schemaName).describe('A schema.'),
		table: sent({
			...tableName,
			columns: boundedArray(z.string()).nullish().describe('The names of the columns that are used.'),
		}).describe('A table, or some of its columns.'),
		column: sent({ ...tableName, columnName: z.string().describe('The name of the column.') }).describe('A column.'),
		function: sent({
			functionName: z.string().describe('The name of the function.'),
			catalogName: z.string().nullish().describe('The name of the catalog.'),
			schemaName: z.string().nullish().describe('The name of the schema.'),
			schema: sent(schemaName).nullish().describe('Catalog and schema, as some versions of Trino name them.'),
		}).describe('A function.'),
		user: ignored.describe('A user; the resource type is `trino_sys`.'),
		systemSessionProperty: ignored.describe('A property of sessions; the resource type is `trino_sys`.'),
		catalogSessionProperty: ignored.describe('A property of sessions in a catalog; the resource type is `trino_sys`.'),
	})
	.partial()
	.refine((given) => Object.keys(given).length <= 1, 'must be one thing')
	.meta({
		id: 'TrinoResource',
		additionalProperties: true,
		description: 'A thing of Trino: one member says what kind it is. Other kinds are denied.',
	});

/** A thing of Trino's. */
export type TrinoResource = z.output<typeof TrinoResource>;

/** What Trino's OPA plugin asks. The rest of what it sends is ignored, such as the groups of its user. */
export const TrinoQuery = sent({
	input: sent({
		context: sent({
			identity: sent({ user: z.string().describe('The key of the user.') }).describe('Who runs the query.'),
		}).describe('Who asks.'),
		action: sent({
			operation: TrinoOperation.describe('The operation, which is the key of the action.'),
			resource: TrinoResource.nullish().describe('What it is done on.'),
			filterResources: boundedArray(TrinoResource)
				.nullish()
				.describe('Many things, of which the answer names those that are allowed.'),
		}).describe('What is asked.'),
	}).describe('What the plugin sends; the rest of it is ignored.'),
}).meta({ id: 'TrinoQuery', description: 'What the OPA plugin of Trino asks.' });

/** What Trino asks, after validation. */
export type TrinoQuery = z.output<typeof TrinoQuery>;

/** Whether the operation is allowed, or the indexes of those of many things that it is allowed on. */
export const TrinoAnswer = z
	.object({
		result: z
			.union([z.boolean(), z.array(z.int())])
			.describe('Whether it is allowed; of many things, the indexes of those on which it is.'),
	})
	.meta({ id: 'TrinoAnswer', description: 'The answer to an operation in Trino.' });

/** The filters of a table's rows, all of which apply. */
export const TrinoRowFilters = z
	.object({
		result: z
			.array(z.object({ expression: z.string().describe('A condition on rows, in SQL.') }))
			.describe('The filters, all of which apply.'),
	})
	.meta({
		id: 'TrinoRowFilters',
		description: 'The filters of the rows of a table.',
		example: { result: [{ expression: "region = 'eu'" }] },
	});

/** The masks of columns, by their indexes in the request. */
export const TrinoColumnMasks = z
	.object({
		result: z
			.array(
				z.object({
					index: z.int().describe('The index of the column in `filterResources`.'),
					viewExpression: z
						.object({
							expression: z.string().describe('What is shown in place of the column, in SQL.'),
							identity: z.string().optional().describe('As whom the expression is run.'),
						})
						.describe('The mask.'),
				}),
			)
			.describe('The masks of the columns that have one.'),
	})
	.meta({
		id: 'TrinoColumnMasks',
		description: 'The masks of columns.',
		example: { result: [{ index: 0, viewExpression: { expression: 'NULL' } }] },
	});
