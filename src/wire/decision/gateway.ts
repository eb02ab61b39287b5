/** Requests to decision points in gateway formats: nginx, Kong and Trino. */

import { z } from 'zod';
import { boundedArray } from '../bounded.js';
import { named } from '../named.js';
import { maxUrlLength } from './check.js';

/** Response status for a denial. The default, 200, is for clients that read the body; nginx reads only the status. */
export const NginxQuery = z.object({
	deny_status: z
		.enum(['401', '403'], { error: 'must be 401 or 403' })
		.transform((status) => (status === '401' ? 401 : 403))
		.optional()
		.describe('Denial status; defaults to 200.'),
});

/** Schema for an object from a gateway. Unknown fields are allowed and ignored. */
function sent<S extends z.ZodRawShape>(shape: S) {
	return z.object(shape).meta({ additionalProperties: true });
}

/** Request from the OPA plugin for Kong. Other fields are ignored. */
export const KongQuery = sent({
	input: sent({
		request: sent({
			http: sent({
				method: z.string().max(64).describe('Method; in lowercase, it is the action key.'),
				path: z.string().max(maxUrlLength).describe('Path; the route table maps it to a resource.'),
			}).describe('Request line.'),
		}).describe('The request passing through Kong.'),
		consumer: sent({ username: z.string().nullish().describe('User key.') })
			.nullish()
			.describe('The authenticated consumer; without it, the request is denied.'),
	}).describe('Input from the plugin; other fields are ignored.'),
}).meta({ id: 'KongQuery', description: 'Request from the Kong OPA plugin.' });

export const KongAnswer = named('KongAnswer', 'Response to Kong.', {
	result: z.boolean().describe('True if the request may pass.'),
});

/** Operations in Trino requests. */
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

const catalogName = z.string().describe('Catalog name.');
const schemaName = { catalogName, schemaName: z.string().describe('Schema name.') };
const tableName = { ...schemaName, tableName: z.string().describe('Table name.') };

/** Object from a gateway. All its fields are ignored. */
const ignored = sent({});

/** Trino resource. Its only field is the resource kind. Unknown kinds are denied. */
const TrinoResource = z
	.object({
		catalog: sent({ name: catalogName }).describe('A catalog.'),
		schema: sent(schemaName).describe('A schema.'),
		table: sent({
			...tableName,
			columns: boundedArray(z.string()).nullish().describe('Names of the columns in use.'),
		}).describe('A table, or some of its columns.'),
		column: sent({ ...tableName, columnName: z.string().describe('Column name.') }).describe('A column.'),
		function: sent({
			functionName: z.string().describe('Function name.'),
			catalogName: z.string().nullish().describe('Catalog name.'),
			schemaName: z.string().nullish().describe('Schema name.'),
			schema: sent(schemaName).nullish().describe('Catalog and schema, as some Trino versions send them.'),
		}).describe('A function.'),
		user: ignored.describe('A user; the resource type is `trino_sys`.'),
		systemSessionProperty: ignored.describe('A session property; the resource type is `trino_sys`.'),
		catalogSessionProperty: ignored.describe('A catalog session property; the resource type is `trino_sys`.'),
	})
	.partial()
	.refine((given) => Object.keys(given).length <= 1, 'must have exactly one field')
	.meta({
		id: 'TrinoResource',
		additionalProperties: true,
		description: 'A Trino resource. Its single field is the kind. Other kinds are denied.',
	});

export type TrinoResource = z.output<typeof TrinoResource>;

/** Request from the OPA plugin for Trino. Ignores all other fields, such as the user's groups. */
export const TrinoQuery = sent({
	input: sent({
		context: sent({
			identity: sent({ user: z.string().describe('User key.') }).describe('User running the query.'),
		}).describe('Query context.'),
		action: sent({
			operation: TrinoOperation.describe('Operation, used as the action key.'),
			resource: TrinoResource.nullish().describe('Operation target.'),
			filterResources: boundedArray(TrinoResource)
				.nullish()
				.describe('Resources to filter; the response contains the indexes of the allowed resources.'),
		}).describe('The operation to authorize.'),
	}).describe('Input from the plugin; other fields are ignored.'),
}).meta({ id: 'TrinoQuery', description: 'Request from the Trino OPA plugin.' });

export type TrinoQuery = z.output<typeof TrinoQuery>;

/** The decision. For a filter request, the allowed resource indexes. */
export const TrinoAnswer = named('TrinoAnswer', 'Response to an operation in Trino.', {
	result: z
		.union([z.boolean(), z.array(z.int())])
		.describe('True if allowed; for a filter request, the allowed resource indexes.'),
});

/** Row filters for a table. A row must match all filters. */
export const TrinoRowFilters = z
	.object({
		result: z
			.array(z.object({ expression: z.string().describe('SQL condition on rows.') }))
			.describe('Filters; all apply.'),
	})
	.meta({
		id: 'TrinoRowFilters',
		description: 'Row filters for a table.',
		example: { result: [{ expression: "region = 'eu'" }] },
	});

/** Column masks, keyed by the column's index in the request. */
export const TrinoColumnMasks = z
	.object({
		result: z
			.array(
				z.object({
					index: z.int().describe('Column index in `filterResources`.'),
					viewExpression: z
						.object({
							expression: z.string().describe('SQL expression that replaces the column.'),
							identity: z.string().optional().describe('User that runs the expression.'),
						})
						.describe('Column mask.'),
				}),
			)
			.describe('Masks, only for masked columns.'),
	})
	.meta({
		id: 'TrinoColumnMasks',
		description: 'Column masks.',
		example: { result: [{ index: 0, viewExpression: { expression: 'NULL' } }] },
	});
