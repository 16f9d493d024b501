package secretfile

import "syscall"

// readOnly reports whether the file system that a file is on is mounted so.
func readOnly(path string) bool {
	var mount syscall.Statfs_t
	return syscall.Statfs(path, &mount) == nil && mount.Flags&syscall.MS_RDONLY != 0
}
