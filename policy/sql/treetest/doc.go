// Package treetest has the catalog for tests of the packages beside it.
package treetest
