import { Failure } from '../failure.js';
import { partsOf, type Resource, ResourceAttribute } from '../store/table/resource.js';
import { holds, type WritingUnit } from '../store/unit.js';
import type { AttributeBlockEdit } from '../wire/resource.js';
import type { ResourceAttributeUpdate } from '../wire/resource-attribute.js';
import { type Blocks, blockOf, missingFrom } from './blocks.js';
import { defined } from './defined.js';

/** Makes a resource have exactly these attributes beside the built-in ones, which may be named as they are. */
export async function setAttributes(
	unit: WritingUnit,
	resource: Resource,
	blocks: Blocks<AttributeBlockEdit>,
): Promise<void> {
	const existing = await partsOf(unit.query(ResourceAttribute), 'resource_attributes', [resource.id]);
	for (const attribute of existing.filter((row) => row.built_in)) {
		const { type = attribute.type, description = attribute.description } = blockOf(blocks, attribute.key) ?? {};
		if (!holds(attribute, { type, description })) throw builtIn(attribute, 'changed');
	}
	const own = existing.filter((row) => !row.built_in);
	await removeAttributes(
		unit,
		resource,
		own.filter(({ key }) => blockOf(blocks, key) === undefined),
	);
	for (const attribute of own) {
		const block = blockOf(blocks, attribute.key);
		if (block === undefined) continue;
		await unit.update(ResourceAttribute, attribute, columnsOf(block), nameOf(resource, attribute));
	}
	const added = missingFrom(existing, blocks).map(([key, block]) => ({
		key,
		...columnsOf(block),
		resource_id: resource.id,
	}));
	await unit.createMany(ResourceAttribute, added, (attribute) => nameOf(resource, attribute));
}

/** Changes what is given of an attribute of a resource. Built-in ones stay as they are. */
export async function changeAttribute(
	unit: WritingUnit,
	resource: Resource,
	attribute: ResourceAttribute,
	body: ResourceAttributeUpdate,
): Promise<ResourceAttribute> {
	if (attribute.built_in) throw builtIn(attribute, 'changed');
	return unit.update(ResourceAttribute, attribute, defined(body), nameOf(resource, attribute));
}

/** Deletes attributes of a resource. Built-in ones stay. */
export async function removeAttributes(
	unit: WritingUnit,
	resource: Resource,
	attributes: readonly ResourceAttribute[],
): Promise<void> {
	for (const attribute of attributes) if (attribute.built_in) throw builtIn(attribute, 'deleted');
	await unit.removeMany(ResourceAttribute, attributes, (attribute) => nameOf(resource, attribute));
}

function builtIn(attribute: ResourceAttribute, done: 'changed' | 'deleted'): Failure {
	return new Failure('invalid', `the attribute \`${attribute.key}\` is built in and cannot be ${done}`);
}

function columnsOf(block: AttributeBlockEdit) {
	return { type: block.type, description: block.description ?? null };
}

function nameOf(resource: Resource, attribute: Pick<ResourceAttribute, 'key'>): string {
	return `${resource.key}:${attribute.key}`;
}
