import { statfs } from 'node:fs/promises';
import { gauge, type MetricFamilies, sample } from './metric-family.js';

/** Returns disk usage metrics for a folder; `reserve` is in bytes. Empty if the disk cannot be read. */
export async function diskFamilies(folder: string, reserve: number): Promise<MetricFamilies> {
	try {
		const { bavail, blocks, bsize } = await statfs(folder);
		return [
			gauge('regolith_api_disk_free_bytes', 'Free bytes on the disk of DATA_DIR', [sample(bavail * bsize)]),
			gauge('regolith_api_disk_size_bytes', 'Size of the disk of DATA_DIR in bytes', [sample(blocks * bsize)]),
			gauge(
				'regolith_api_disk_reserve_bytes',
				'Free bytes below which the embedded database rejects writes (MIN_FREE_DISK); 0 with a PostgreSQL server',
				[sample(reserve)],
			),
		];
	} catch {
		return [];
	}
}
