"""A model as files that other programs read: ONNX for prediction, VNN-LIB for verifiers."""
