export function saveFile(content: Blob, name: string): void {
	const address = URL.createObjectURL(content);
	const link = document.createElement('a');
	link.href = address;
	link.download = name;
	link.click();
	// Give the browser time to read the file.
	setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
