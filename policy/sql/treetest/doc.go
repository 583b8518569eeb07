// Package treetest has the catalog that tests of the packages beside it share.
package treetest
