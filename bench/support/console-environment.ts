import type { Json } from '../../compiler/model.js';
import { environmentDocument } from './environment-document.js';
import { derivedTypes, schemaDocument, setRules } from './schema-shapes.js';

type Members = Record<string, Json>;

/**
 * Returns an environment document of the size that the console is designed for. At `scale` 1, it contains 100,000
 * users, 200,000 instances, 300 resource types with three roles each, 50 tenant roles and 1,000 condition sets with
 * 5,000 rules.
 */
export function consoleEnvironment(scale: number): Members {
	const { schema, ...document } = environmentDocument(10 * scale) as { readonly schema: Members };
	const sets = schemaHalf(
		schemaDocument(setRules(Math.round(1_000 * scale), Math.round(5_000 * scale), 'over 40 actions')),
	);
	const types = schemaHalf(schemaDocument(derivedTypes(Math.round(300 * scale))));
	const own = schema['resources'] as Members;
	const inSets = sets['resources'] as Record<string, Members>;
	const documents = own['document'] as Members;
	const names = Object.keys(types['resources'] as Members);
	const roles = Array.from({ length: 41 }, (_, index) => [
		`office-${index}`,
		{
			name: `Office ${index}`,
			permissions: names.filter((_, at) => at % 41 === index).flatMap((type) => [`${type}:read`]),
		},
	]);
	return {
		...document,
		schema: {
			...schema,
			resources: {
				...(types['resources'] as Members),
				...own,
				document: {
					...documents,
					actions: { ...(documents['actions'] as Members), ...(inSets['document']?.['actions'] as Members) },
				},
			},
			roles: { ...(schema['roles'] as Members), ...Object.fromEntries(roles) },
			condition_sets: sets['condition_sets'] ?? {},
			set_rules: sets['set_rules'] ?? [],
		},
	};
}

function schemaHalf(document: Json): Members {
	return (document as { readonly schema: Members }).schema;
}
