"""scikit-learn style estimators: `SmileRegressor`, `SmileClassifier`, and `load` for saved ones."""
