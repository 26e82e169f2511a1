"""Position-indexed ng-routes: labelling, dynamic ng-sets, reduced-cost fixing."""
