// Package browser lets tests use pages in a real, headless Chromium, as a person
// would: at any size, in light and dark, with what the page complained of. Tests
// are skipped where none is installed, and under -short.
package browser
