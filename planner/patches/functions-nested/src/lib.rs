//! The constructors that datafusion-sql calls for `ANY`/`ALL` over arrays.
//!
//! They build calls of functions named `array_…`, which Gingham's planner refuses as
//! unsupported, with the position of the statement.

/// Expression constructors.
pub mod expr_fn {
    use arrow_schema::DataType;
    use datafusion_expr::expr::ScalarFunction;
    use datafusion_expr::{ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility};
    use std::sync::Arc;

    /// A named function without an implementation.
    #[derive(Debug, PartialEq, Eq, Hash)]
    struct ArrayFunction {
        name: &'static str,
        signature: Signature,
    }

    impl ScalarUDFImpl for ArrayFunction {
        fn name(&self) -> &str {
            self.name
        }

        fn signature(&self) -> &Signature {
            &self.signature
        }

        fn return_type(&self, _: &[DataType]) -> datafusion_common::Result<DataType> {
            datafusion_common::not_impl_err!("{} over arrays", self.name)
        }

        fn invoke_with_args(&self, _: ScalarFunctionArgs) -> datafusion_common::Result<ColumnarValue> {
            datafusion_common::not_impl_err!("{} over arrays", self.name)
        }
    }

    fn call(name: &'static str, arguments: Vec<Expr>) -> Expr {
        let function = ArrayFunction { name, signature: Signature::variadic_any(Volatility::Immutable) };
        Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(ScalarUDF::from(function)), arguments))
    }

    /// `array_has(haystack, needle)`.
    pub fn array_has(haystack: Expr, needle: Expr) -> Expr {
        call("array_has", vec![haystack, needle])
    }

    /// `array_max(array)`.
    pub fn array_max(array: Expr) -> Expr {
        call("array_max", vec![array])
    }

    /// `array_min(array)`.
    pub fn array_min(array: Expr) -> Expr {
        call("array_min", vec![array])
    }

    /// `array_position(array, element, from)`.
    pub fn array_position(array: Expr, element: Expr, from: Expr) -> Expr {
        call("array_position", vec![array, element, from])
    }

    /// `cardinality(array)`.
    pub fn cardinality(array: Expr) -> Expr {
        call("cardinality", vec![array])
    }
}
