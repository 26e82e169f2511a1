"""Branch and cut over 1-trees and the LP relaxation of tours."""
