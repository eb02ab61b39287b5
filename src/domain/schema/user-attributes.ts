import { forbidden } from '../../failure.js';
import { attributesIn, Resource } from '../../store/table/resource.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';

/** Key of the resource that defines user attributes. */
const usersResource = '__user';

/**
 * Rejects user attributes that the environment defines. Element users must not set them on any user, because conditions
 * use these attributes in every tenant and may therefore grant access. Throws `forbidden`.
 */
export async function refuseDefinedAttributes(
	unit: ReadingUnit,
	attributes: Readonly<Record<string, unknown>>,
): Promise<void> {
	const names = Object.keys(attributes);
	if (names.length === 0) return;
	const users = [...(await unit.findMany(Resource, [usersResource])).values()];
	const ids = users.map(({ id }) => id);
	const defined = new Set((await attributesIn(unit, ids).all()).map(({ key }) => key));
	const claimed = names.find((name) => defined.has(name));
	if (claimed !== undefined) throw forbidden(`only the application can set the user attribute \`${claimed}\``);
}
