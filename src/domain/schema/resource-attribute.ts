import { Failure } from '../../failure.js';
import { attributesIn, type Resource, ResourceAttribute } from '../../store/table/resource.js';
import { hasValues } from '../../store/unit/change-record.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import type { AttributeBlockEdit } from '../../wire/schema/resource.js';
import type { ResourceAttributeUpdate } from '../../wire/schema/resource-attribute.js';
import { definedFields } from './defined-fields.js';
import { type Blocks, findBlock, missingFrom } from './resource-blocks.js';

/**
 * Replaces a resource's attributes, except for the built-in attributes. The body may contain built-in attributes only
 * if they are unchanged.
 */
export async function setAttributes(
	unit: WritingUnit,
	resource: Resource,
	blocks: Blocks<AttributeBlockEdit>,
): Promise<void> {
	const existing = await attributesIn(unit, [resource.id]).all();
	for (const attribute of existing.filter((row) => row.built_in)) {
		const { type = attribute.type, description = attribute.description } = findBlock(blocks, attribute.key) ?? {};
		if (!hasValues(attribute, { type, description })) throw builtIn(attribute, 'changed');
	}
	const own = existing.filter((row) => !row.built_in);
	const dropped = own.filter(({ key }) => findBlock(blocks, key) === undefined);
	await removeAttributes(unit, resource, dropped);
	for (const attribute of own) {
		const block = findBlock(blocks, attribute.key);
		if (block === undefined) continue;
		await unit.update(ResourceAttribute, attribute, attributeColumns(block), attributeName(resource, attribute));
	}
	const added = missingFrom(existing, blocks).map(([key, block]) => ({
		key,
		...attributeColumns(block),
		resource_id: resource.id,
	}));
	await unit.createMany(ResourceAttribute, added, (attribute) => attributeName(resource, attribute));
}

/** Changes the passed attribute fields. Throws `invalid` for a built-in attribute. */
export async function changeAttribute(
	unit: WritingUnit,
	resource: Resource,
	attribute: ResourceAttribute,
	body: ResourceAttributeUpdate,
): Promise<ResourceAttribute> {
	if (attribute.built_in) throw builtIn(attribute, 'changed');
	return unit.update(ResourceAttribute, attribute, definedFields(body), attributeName(resource, attribute));
}

/** Deletes a resource's attributes. Throws `invalid` for a built-in attribute. */
export async function removeAttributes(
	unit: WritingUnit,
	resource: Resource,
	attributes: readonly ResourceAttribute[],
): Promise<void> {
	for (const attribute of attributes) if (attribute.built_in) throw builtIn(attribute, 'deleted');
	await unit.removeMany(ResourceAttribute, attributes, (attribute) => attributeName(resource, attribute));
}

function builtIn(attribute: ResourceAttribute, done: 'changed' | 'deleted'): Failure {
	return new Failure('invalid', `the attribute \`${attribute.key}\` is built-in and cannot be ${done}`);
}

function attributeColumns(block: AttributeBlockEdit) {
	return { type: block.type, description: block.description ?? null };
}

function attributeName(resource: Resource, attribute: Pick<ResourceAttribute, 'key'>): string {
	return `${resource.key}:${attribute.key}`;
}
